"""`auto` and `lookup`: the rule table, its reasons, and SELECTs that a model writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reeldb.query.strategies.auto import RULES, Facts, kind_of, pick
from reeldb.query.strategies.lookup import read_sql, tables
from reeldb.query.strategies.registry import STRATEGIES
from reeldb.schema.errors import BindError
from tests.query.story import Story, even, story
from tests.witness import Event, Seen

FILM = even(120, 10)
EVENTS = [Event(1, 20, 30, "A dog barks."), Event(1, 100, 110, "A dog sleeps.")]
LONG = Facts("detail", 3600, 3600, 500, 1, chat=True, sees=True, vectors=True)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("how many videos mention a price?", "lookup"),
        ("list the scenes with a dog after minute 10", "lookup"),
        ("Which scenes show a car?", "lookup"),
        ("what is the longest scene?", "lookup"),
        ("how many goals does number 11 score?", "count"),
        ("how often does the bell ring?", "count"),
        ("what does she do after the meal?", "order"),
        ("Summarize the match", "summary"),
        ("what is this video about?", "summary"),
        ("Who is in most of the video?", "share"),
        ("where does it mostly take place?", "share"),
        ("what is the film mainly about?", "summary"),
        ("how much of the time does she sleep?", "share"),
        ("who wins the most?", "detail"),
        ("why does he leave?", "why"),
        ("what colour is the car?", "detail"),
        ("show me the way he looks", "detail"),
    ],
)
def test_the_kind_of_a_question_is_read_off_its_words(question: str, kind: str) -> None:
    assert kind_of(question) == kind


@pytest.mark.parametrize(
    ("facts", "strategy"),
    [
        (replace(LONG, kind="lookup"), "lookup"),
        (replace(LONG, kind="lookup", whole=False), "descent"),
        (replace(LONG, kind="lookup", choices=True), "descent"),
        (replace(LONG, chat=False, sees=False), "topk"),
        (replace(LONG, chat=False, sees=False, vectors=False), "uniform"),
        (replace(LONG, pictures=64, length_s=64), "uniform"),
        (replace(LONG, pictures=64, length_s=64, sees=False), "tree"),
        (replace(LONG, kind="share", calls=5), "uniform"),
        (replace(LONG, kind="share", grounded=True), "uniform"),
        (replace(LONG, kind="share", sees=False), "descent"),
        (replace(LONG, calls=5), "dpp"),
        (replace(LONG, calls=5, sees=False), "topk"),
        (replace(LONG, calls=5, vectors=False), "uniform"),
        (replace(LONG, kind="summary"), "recursive"),
        (replace(LONG, kind="count"), "mapreduce"),
        (replace(LONG, kind="count", calls=100), "descent"),
        (replace(LONG, kind="count", calls=100, cached=1.0), "mapreduce"),
        (replace(LONG, cached=0.9), "mapreduce"),
        (replace(LONG, grounded=True), "dpp"),
        (replace(LONG, grounded=True, cached=1.0), "dpp"),
        (replace(LONG, grounded=True, kind="count"), "mapreduce"),
        (replace(LONG, grounded=True, kind="count", scenes=100), "dpp"),
        (replace(LONG, kind="count", scenes=100), "mapreduce"),
        (LONG, "descent"),
        (replace(LONG, length_s=300, pictures=300), "tree"),
        (replace(LONG, length_s=300, pictures=300, vectors=False), "descent"),
    ],
)
def test_the_first_rule_that_fits_decides(facts: Facts, strategy: str) -> None:
    chosen = pick(facts, STRATEGIES)
    assert chosen.strategy == strategy
    assert chosen.because


def test_rules_name_strategies_that_exist_and_skip_those_that_do_not() -> None:
    assert {r.strategy for r in RULES} <= set(STRATEGIES)
    without = {k: v for k, v in STRATEGIES.items() if k != "lookup"}
    assert pick(replace(LONG, kind="lookup"), without).strategy == "descent"


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))
    with story(tmp_path / "archive", [FILM, even(40, 10)], EVENTS) as one:
        yield one


def writes(one: Story, *statements: str) -> None:
    """The model writes these statements, one a try."""
    left = list(statements)

    def says(seen: Seen) -> str | None:
        if "sql" not in (seen.schema or {}).get("properties", {}):
            return None
        return json.dumps({"sql": left.pop(0)})

    one.witness.rules.append(says)


DOGS = "SELECT video_id, video, start_s, end_s FROM scenes WHERE caption ILIKE '%dog%'"


def test_a_lookup_is_answered_by_a_select_that_is_shown(one: Story) -> None:
    writes(one, "SELECT count(*) FROM scenes WHERE caption ILIKE '%dog%'")
    row = one.row("ASK 'how many scenes show a dog?'")
    assert (row["answer"], row["strategy"], row["status"]) == ("2", "lookup", "complete")
    assert any(n.startswith("answered by: SELECT count(*)") for n in row["notes"])
    assert (row["captions_made"], row["calls"]) == (16, 17)


def test_a_lookup_of_rows_has_them_as_evidence(one: Story) -> None:
    writes(one, DOGS)
    row = one.row("ASK 'list the scenes with a dog'")
    assert [(e["start_s"], e["end_s"]) for e in row["evidence"]] == [(20, 30), (100, 110)]
    assert row["answer"].splitlines()[0] == "2 rows"


def test_the_reason_stands_in_the_trace_and_in_explain(one: Story) -> None:
    writes(one, DOGS)
    row = one.row("ASK 'list the scenes with a dog'")
    ((trace,),) = one.engine.sql("SELECT trace FROM answers WHERE id = ?", [row["id"]]).fetchall()
    (step,) = [s for s in json.loads(trace) if s["operator"] == "auto"]
    assert step["outputs"]["strategy"] == "lookup" and "SELECT" in step["outputs"]["because"]
    assert step["inputs"]["kind"] == "lookup" and step["inputs"]["scenes"] == 16
    calls = one.server.calls
    plan = str(one.engine.sql("EXPLAIN ASK 'list the scenes with a dog'").fetchall())
    assert "auto chose it" in plan and one.server.calls == calls


def test_a_statement_that_cannot_run_is_told_and_written_again(one: Story) -> None:
    writes(one, "SELECT nothing FROM sceness", "SET captions = 'cached'", DOGS)
    row = one.row("ASK 'list the scenes with a dog'")
    assert len(row["evidence"]) == 2
    assert sum("could not run" in n for n in row["notes"]) == 2
    assert "only a SELECT" in str(row["notes"])


def test_a_model_that_never_writes_one_that_runs_fails_by_name(one: Story) -> None:
    writes(one, *["SELECT * FROM read_csv('/etc/passwd')"] * 3)
    row = one.row("ASK 'list the scenes with a dog'")
    assert (row["status"], row["answer"]) == ("failed", "")


def test_a_lookup_stays_within_its_budget(one: Story) -> None:
    writes(one, DOGS)
    before = one.server.calls
    row = one.row("ASK 'list the scenes with a dog' USING lookup BUDGET 6 CALLS")
    assert one.server.calls - before <= 6
    assert row["status"] == "partial"


def test_a_lookup_is_replayed_without_a_call(one: Story) -> None:
    writes(one, DOGS)
    row = one.row("ASK 'list the scenes with a dog'")
    calls = one.server.calls
    again = one.row(f"REPLAY '{row['id']}'")
    assert one.server.calls == calls
    assert (again["answer"], again["evidence"]) == (row["answer"], row["evidence"])


def test_without_a_chat_model_a_lookup_says_what_it_would_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))
    with story(tmp_path / "archive", [FILM], EVENTS, chat="", vision="") as one:
        row = one.row("ASK 'how many videos show a dog?'")
        assert row["strategy"] == "uniform"
        assert any("takes a chat model" in n for n in row["notes"])
        with pytest.raises(BindError, match="lookup writes a SELECT with a chat model"):
            one.engine.sql("ASK 'how many videos show a dog?' USING lookup")


def test_a_short_film_is_shown_in_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))

    def answers(seen: Seen) -> str | None:
        parts: dict[str, Any] = (seen.schema or {}).get("properties", {})
        said = {"outcome": "answered", "answer": "a dog", "cites": [1], "confidence": 5}
        return json.dumps(said) if "outcome" in parts else None

    with story(tmp_path / "archive", [even(40, 10)], EVENTS) as one:
        one.witness.rules.append(answers)
        row = one.row("ASK 'which animal barks?'")
        assert (row["strategy"], row["answer"], one.server.calls) == ("uniform", "a dog", 1)


def test_sql_is_read_from_json_only_and_the_tables_are_described() -> None:
    assert read_sql('```json\n{"sql": "SELECT 1;"}\n```') == "SELECT 1"
    assert read_sql("SELECT 1") is None
    assert "scenes (" in tables() and "caption VARCHAR" in tables()
