"""`recursive` and SUMMARIZE, with a server that sees the pictures and a scripted root model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from reeldb.query.strategies.chunk_work import read_summary
from reeldb.query.strategies.root import read_code
from reeldb.schema.errors import BindError
from tests.query.story import Story, even, story
from tests.witness import Event, Seen

FILM = even(150, 10)
EVENTS = [
    Event(1, 0, 40, "A chef pours milk and cuts bread."),  # words of actions
    Event(1, 40, 70, "The narrator explains."),  # of speech
    Event(1, 70, 110, "Grey noise."),  # of none
    Event(1, 110, 150, "A red kite."),
]


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))
    with story(tmp_path / "archive", [FILM], EVENTS) as one:
        yield one


def tools_read(row: dict[str, object], one: Story) -> list[list[str]]:
    """By chunk, which tools were read, from the trace of an answer."""
    ((trace,),) = one.engine.sql("SELECT trace FROM answers WHERE id = ?", [row["id"]]).fetchall()
    by_span: dict[str, list[str]] = {}
    for step in json.loads(trace):
        if step["operator"] == "read":
            by_span.setdefault(str(step["inputs"]["span"]), []).append(step["inputs"]["kind"])
    return list(by_span.values())


def test_a_summary_goes_over_every_chunk_in_order_and_cites_their_spans(one: Story) -> None:
    row = one.row("SUMMARIZE VIDEO '1.mp4' USING recursive(tools => 'none')")
    assert row["status"] == "complete"
    told = [row["answer"].index(e.text) for e in EVENTS]
    assert told == sorted(told)
    spans = [(e["start_s"], e["end_s"]) for e in row["evidence"]]
    assert spans == [(0, 30), (30, 60), (60, 90), (90, 120), (120, 150)]
    chunks = [r for r in one.sent("summary") if r.moments]
    assert len(chunks) == 5
    assert max(len(r.moments) for r in one.server.requests) <= 32
    assert sorted(sorted(r.times_s)[0] for r in chunks) == [0, 30, 60, 90, 120]


def test_a_summary_is_kept_and_asked_for_again_at_no_cost(one: Story) -> None:
    first = one.row("SUMMARIZE VIDEO '1.mp4' USING recursive(tools => 'none')")
    calls = one.server.calls
    again = one.row("SUMMARIZE VIDEO '1.mp4' USING recursive(tools => 'none')")
    assert one.server.calls == calls
    assert again["answer"] == first["answer"] and again["calls"] == 0
    kept = one.engine.sql(
        "SELECT answer, plan FROM answers WHERE statement LIKE 'SUMMARIZE VIDEO ''1.mp4''%'"
    ).fetchall()
    assert [a for a, _ in kept] == [first["answer"]] * 2
    assert json.loads(kept[0][1])["kind"] == "summary"


@pytest.mark.parametrize(
    ("tools", "read"),
    [
        ("none", []),
        ("all", [["actions", "speech", "ocr", "objects"]] * 5),
        ("adaptive", [["actions", "speech", "ocr", "objects"], ["actions"], ["speech"]]),
    ],
)
def test_tools_are_called_as_the_option_says(one: Story, tools: str, read: list[object]) -> None:
    # Chunk 1 and 2 tell of actions; the 2nd of speech too, but of fewer words of its set.
    row = one.row(f"SUMMARIZE VIDEO '1.mp4' USING recursive(tools => '{tools}')")
    found = tools_read(row, one)
    assert found[: len(read)] == read
    if tools == "adaptive":
        assert 3 <= len(found) < 5  # grey noise calls for none
    missing = [n for n in row["notes"] if "skipped" in n]
    assert len(missing) == (0 if tools == "none" else 4)  # each named once


def test_chunks_may_be_fixed_instead(one: Story) -> None:
    row = one.row(
        "SUMMARIZE VIDEO '1.mp4' USING recursive(chunks => 'fixed', chunk_seconds => 70, "
        "tools => 'none')"
    )
    assert [(e["start_s"], e["end_s"]) for e in row["evidence"]] == [(0, 75), (75, 150)]


def test_summaries_that_do_not_fit_are_joined_by_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))

    def wordy(seen: Seen) -> str | None:
        if "summary" not in (seen.schema or {}).get("properties", {}):
            return None
        return json.dumps({"summary": ("chunk " if seen.moments else "joined ") * 60})

    with story(tmp_path / "archive", [even(300, 10)]) as one:
        one.witness.rules.append(wordy)
        row = one.row(
            "SUMMARIZE VIDEO '1.mp4' USING recursive(tools => 'none', join_chars => 1000)"
        )
        joins = [r for r in one.sent("summary") if not r.moments]
        assert len(joins) == 5 + 2 + 1 + 1  # 10 chunks by twos, 5 by twos, 3, 2
        assert any("levels" in n for n in row["notes"])
        assert row["answer"].startswith("joined")


def test_deeper_chunks_are_chunks_of_chunks(one: Story) -> None:
    row = one.row(
        "SUMMARIZE VIDEO '1.mp4' USING recursive(tools => 'none', depth => 2, "
        "chunk_seconds => 70, chunk_pictures => 32)"
    )
    chunks = [r for r in one.sent("summary") if r.moments]
    assert len(chunks) == 3 + 3
    assert all(len(r.moments) <= 32 for r in chunks)
    assert len(row["evidence"]) == 2


def test_a_chunk_whose_reply_fails_is_reported_and_the_rest_goes_on(one: Story) -> None:
    def fails(seen: Seen) -> str | None:
        at = seen.times_s
        return "{broken" if at and 30 <= at[0] < 60 else None

    one.witness.rules.append(fails)
    row = one.row("SUMMARIZE VIDEO '1.mp4' USING recursive(tools => 'none')")
    assert row["status"] == "partial"
    assert "Grey noise" in row["answer"]
    assert any("1 of 5 chunks" in n for n in row["notes"])


def test_a_budget_ends_the_summary_as_partial(one: Story) -> None:
    row = one.row("SUMMARIZE VIDEO '1.mp4' USING recursive(tools => 'none') BUDGET 3 CALLS")
    assert row["status"] == "partial"
    assert one.server.calls <= 3


def test_uniform_is_the_baseline_of_summaries(one: Story) -> None:
    def answers(seen: Seen) -> str | None:
        if "outcome" not in (seen.schema or {}).get("properties", {}):
            return None
        text = one.witness.evidence(seen)
        return json.dumps({"outcome": "answered", "answer": text, "cites": [1], "confidence": 4})

    one.witness.rules.append(answers)
    row = one.row("SUMMARIZE VIDEO '1.mp4' USING uniform(n => 15)")
    assert row["strategy"] == "uniform"
    assert all(e.text in row["answer"] for e in EVENTS)
    assert one.server.calls == 1


def test_recursive_answers_questions_with_options_too(one: Story) -> None:
    def answers(seen: Seen) -> str | None:
        if "choice" not in (seen.schema or {}).get("properties", {}):
            return None
        return json.dumps({"choice": "B", "answer": "a kite", "cites": [5], "confidence": 5})

    one.witness.rules.append(answers)
    row = one.row(
        "ASK 'what is seen last?' CHOICES ('a dog', 'a kite') USING recursive(tools => 'none')"
    )
    assert row["choice"] == {"letter": "B", "text": "a kite"}
    assert (row["evidence"][0]["start_s"], row["evidence"][0]["end_s"]) == (120, 150)


def test_explain_shows_what_a_summary_may_cost_and_calls_nothing(one: Story) -> None:
    lines = one.engine.sql("EXPLAIN SUMMARIZE VIDEO '1.mp4'").fetchall()
    assert "recursive" in str(lines)
    assert one.server.calls == 0


def test_a_summary_is_replayed_without_a_call(one: Story) -> None:
    row = one.row("SUMMARIZE VIDEO '1.mp4' USING recursive(tools => 'adaptive')")
    calls = one.server.calls
    again = one.row(f"REPLAY '{row['id']}'")
    assert one.server.calls == calls
    assert again["answer"] == row["answer"]


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("SUMMARIZE VIDEO '2.mp4'", "2.mp4"),
        ("SUMMARIZE VIDEO '1.mp4' USING recursive(tools => 'some')", "adaptive"),
        ("SUMMARIZE VIDEO '1.mp4' USING recursive(chunk_pictures => 33)", "1 to 32"),
        ("SUMMARIZE VIDEO '1.mp4' USING recursive(planner => 'free')", "repl"),
    ],
)
def test_a_bad_summarize_names_what_is_wrong(one: Story, statement: str, says: str) -> None:
    with pytest.raises(BindError, match=says):
        one.engine.sql(statement)


# Without a language model


def test_without_a_model_the_summary_lists_what_was_read_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))
    with story(tmp_path / "archive", [FILM], EVENTS, chat="", vision="") as one:
        row = one.row("SUMMARIZE VIDEO '1.mp4' USING recursive(tools => 'none')")
        assert row["reasoner"] == "extract"
        assert any("no language model wrote" in n for n in row["notes"])
        lines = row["answer"].splitlines()
        assert [x.split(": ")[0] for x in lines][:2] == ["00:00:00-00:00:30", "00:00:30-00:01:00"]
        assert "A chef pours milk" in lines[0] and "A red kite" in lines[-1]
        assert row["captions_made"] == one.server.calls == 5


# The REPL


FIXED = """
texts = []
for chunk in chunks():
    texts.append(describe(chunk["start_s"], chunk["end_s"]))
print(len(texts))
"""


def root(one: Story, turns: Sequence[str]) -> None:
    """The root model says these blocks, one a turn, then nothing of use."""
    left = list(turns)

    def says(seen: Seen) -> str | None:
        if "Functions:" not in seen.prompt:
            return None
        return f"Here:\n```python\n{left.pop(0) if left else 'x = 1'}\n```"

    one.witness.rules.append(says)


REPL = "SUMMARIZE VIDEO '1.mp4' USING recursive(tools => 'none', planner => 'repl', turns => 4)"


def test_the_repl_and_the_fixed_plan_agree_on_a_scripted_root(one: Story) -> None:
    pytest.importorskip("pydantic_monty", reason="needs reeldb[repl]")
    fixed = one.row("SUMMARIZE VIDEO '1.mp4' USING recursive(tools => 'none')")
    calls = one.server.calls
    root(one, [FIXED, "answer(join())"])
    row = one.row(REPL)
    assert row["answer"] == fixed["answer"]
    assert [e["key"] for e in row["evidence"]] == [e["key"] for e in fixed["evidence"]]
    assert row["status"] == "complete"
    assert one.server.calls == calls + 2  # the two turns; chunks and joins were paid before


def test_the_root_sees_metadata_only(one: Story) -> None:
    pytest.importorskip("pydantic_monty", reason="needs reeldb[repl]")
    root(one, [FIXED, "answer(join())"])
    one.row(REPL)
    first = next(r for r in one.server.requests if "Functions:" in r.prompt)
    assert not any(e.text in first.prompt for e in EVENTS)
    assert not first.moments


@pytest.mark.parametrize(
    "turns",
    [["while True: pass"], ["for i in range(10_000): metadata()"], [], ["import os"]],
)
def test_a_root_that_never_answers_falls_back_to_the_fixed_plan(
    one: Story, turns: list[str]
) -> None:
    pytest.importorskip("pydantic_monty", reason="needs reeldb[repl]")
    root(one, turns)
    row = one.row(REPL)
    assert row["status"] == "partial"
    assert "A red kite" in row["answer"]
    assert any("root model came to no answer" in n for n in row["notes"])


def test_a_root_that_looks_without_end_costs_no_more_than_the_budget(one: Story) -> None:
    pytest.importorskip("pydantic_monty", reason="needs reeldb[repl]")
    code = "for i in range(900):\n    try: describe(0, 30, 'query ' + str(i))\n    except: pass"
    root(one, [code])
    row = one.row(f"{REPL} BUDGET 9 CALLS")
    assert one.server.calls <= 9
    assert row["status"] == "partial"


def test_an_answer_without_a_look_is_insufficient(one: Story) -> None:
    pytest.importorskip("pydantic_monty", reason="needs reeldb[repl]")
    root(one, ["answer('all is well')"])
    row = one.row(REPL)
    assert (row["status"], row["answer"]) == ("insufficient", "")


def test_a_reply_with_one_code_block_is_code_and_any_other_is_none() -> None:
    assert read_code("so:\n```python\nx = 1\n```\nthat is it") == "x = 1\n"
    assert read_code("```\nx\n``` and ```\ny\n```") is None
    assert read_code("x = 1") is None
    assert read_code("```python\n\n```") is None


def test_a_summary_is_read_from_json_or_prose_and_not_from_a_broken_object() -> None:
    assert read_summary('{"summary": " a cat "}') == "a cat"
    assert read_summary("A cat sleeps.") == "A cat sleeps."
    assert read_summary('{"summary": ') is None
    assert read_summary('{"other": "x"}') is None
    assert read_summary("") is None
