"""ASK over real clips, judged by models whose answers are known: words for colours."""

from __future__ import annotations

from pathlib import Path

import pytest

import reeldb
from reeldb.database import Database
from reeldb.schema.errors import BindError, ParseError
from tests.clips import make_clip

FAKES = {"captioner": "fake:captioner", "text_embedder": "fake:text_embedder"}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Database:
    place = tmp_path_factory.mktemp("ask")
    make_clip(place / "a.mp4", [("red", 3.0), ("blue", 2.0), ("green", 3.0)])
    make_clip(place / "b.mp4", [("white", 3.0), ("yellow", 3.0)])
    db = reeldb.open(place / "archive")
    db.add([place / "a.mp4", place / "b.mp4"], embedder="fake:embedder")
    for role, address in FAKES.items():
        db.set_model(role, address)
    return db


def test_a_question_finds_its_moment_among_all_videos(db: Database) -> None:
    answer = db.ask("when is it yellow?")
    assert answer.status == "complete"
    best = answer.evidence[0]
    assert (best.video, best.start_s, best.end_s) == ("b.mp4", 3.0, 6.0)
    assert "yellow" in answer.text


@pytest.mark.parametrize(("colour", "other"), [("blue", "orange"), ("green", "magenta")])
def test_the_option_that_is_seen_is_chosen(db: Database, colour: str, other: str) -> None:
    for choices in ([colour, other], [other, colour]):
        answer = db.ask(f"is it {colour} or {other}?", choices=choices, video="a.mp4")
        assert answer.choice is not None
        assert answer.choice.text == answer.text == colour
        assert answer.choice.letter == "AB"[choices.index(colour)]
        assert answer.confidence is not None and 0.5 < answer.confidence <= 1


def test_evidence_lies_inside_the_video_and_cites_the_ledger(db: Database) -> None:
    answer = db.ask("a green picture", video="a.mp4")
    keys = {k for (k,) in db.sql("SELECT key FROM captions").fetchall()}
    for e in answer.evidence:
        assert e.video == "a.mp4"
        assert 0 <= e.start_s < e.end_s <= 8.0
        assert e.key in keys


def test_the_same_question_again_makes_no_caption(db: Database) -> None:
    first = db.ask("what is white?")
    again = db.ask("what is white?")
    assert again.captions_made == 0
    assert again.captions_reused == first.captions_made + first.captions_reused > 0
    assert (again.answer, again.evidence) == (first.answer, first.evidence)


def test_a_scope_is_any_relation_with_spans_or_moments(db: Database) -> None:
    for scope in (
        "scenes WHERE video = 'a.mp4' AND start_s < 3",
        "frames WHERE video = 'a.mp4' AND t_s < 3",
        "(SELECT video_id, 0.0 AS start_s, 3.0 AS end_s FROM videos WHERE video = 'a.mp4')",
        '"a.mp4".scenes WHERE scene_no = 0',
    ):
        rows = db.sql(f"ASK 'green or blue?' FROM {scope} USING topk(k => 3)").fetchall()
        columns = db.sql(f"ASK 'green or blue?' FROM {scope} USING topk(k => 3)").columns
        answer = dict(zip(columns, rows[0], strict=True))
        assert answer["status"] == "complete"
        assert {e["start_s"] for e in answer["evidence"]} == {0.0}, scope


def test_ask_is_a_statement_with_choices_and_a_budget(db: Database) -> None:
    result = db.sql(
        "ASK 'which one is there?' CHOICES ('red', 'black') FROM videos WHERE video = 'a.mp4' "
        "USING topk(k => 8) BUDGET 20 CAPTIONS"
    )
    (row,) = result.fetchall()
    answer = dict(zip(result.columns, row, strict=True))
    assert answer["choice"] == {"letter": "A", "text": "red"}
    assert answer["strategy"] == "topk"


def test_a_budget_of_captions_ends_the_looking_and_says_partial(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "c.mp4", [("red", 4.0), ("blue", 4.0)])
    db = reeldb.open(tmp_path / "archive")
    db.add(clip, embedder="fake:embedder")
    for role, address in FAKES.items():
        db.set_model(role, address)
    answer = db.ask("red?", budget="3 captions")
    assert answer.status == "partial"
    assert answer.captions_made == 3
    assert db.ask("red?").status == "complete"


def test_an_empty_scope_is_insufficient_never_a_guess(db: Database) -> None:
    answer = db.sql("ASK 'what?' CHOICES ('x', 'y') FROM scenes WHERE start_s > 1000")
    row = dict(zip(answer.columns, answer.fetchall()[0], strict=True))
    assert row["status"] == "insufficient"
    assert row["choice"] is None
    assert row["evidence"] == []


def test_every_answer_is_kept_with_its_trace(db: Database) -> None:
    answer = db.ask("something red")
    kept = db.sql("SELECT question, status, trace FROM answers WHERE id = ?", [answer.id])
    ((question, status, trace),) = kept.fetchall()
    assert (question, status) == ("something red", answer.status)
    assert "search" in trace and "caption" in trace


def test_an_answer_without_a_language_model_says_so(db: Database) -> None:
    assert any("without a language model" in n for n in db.ask("red").notes)


@pytest.mark.parametrize(
    "bad", ["'; DROP TABLE scenes; --", "$reel_text", "red' OR '1'='1", "\x00"]
)
def test_a_question_is_text_whatever_it_says(db: Database, bad: str) -> None:
    assert db.ask(bad).status in ("complete", "insufficient")


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("ASK 'x' FROM scenes USING topk(kk => 3)", "kk"),
        ("ASK 'x' FROM scenes USING topk(k => 0)", "1 to 256"),
        ("ASK 'x' FROM scenes USING topk(k => 2.5)", "whole"),
        ("ASK 'x' FROM scenes USING best()", "best"),
        ("ASK '' FROM scenes", "empty"),
        ("ASK 'x' CHOICES ('a', 'a')", "same"),
        ("ASK 'x' FROM answers", "video_id"),
        ("ASK 'x' FROM sceness", "scenes"),
        ("ASK x", "quotes"),
    ],
)
def test_a_bad_ask_names_what_is_wrong(db: Database, statement: str, says: str) -> None:
    with pytest.raises((BindError, ParseError), match=says):
        db.sql(statement)


def test_a_summary_without_a_language_model_is_a_list_of_what_was_read(db: Database) -> None:
    for strategy in ("uniform(n => 4)", "recursive(tools => 'none')"):
        answer = db.summarize("a.mp4", strategy=strategy)
        assert (answer.status, answer.reasoner) == ("complete", "extract"), answer.notes
        assert any("no language model wrote" in n for n in answer.notes)
        assert answer.evidence and answer.text


@pytest.mark.parametrize("name", ["uniform", "topk", "dpp", "tree", "descent"])
def test_every_strategy_runs_offline_and_says_who_answered(db: Database, name: str) -> None:
    answer = db.ask("is it blue or orange?", choices=["orange", "blue"], strategy=name,
                    video="a.mp4")  # fmt: skip
    assert answer.reasoner == "embedding"
    assert any("without a language model" in n for n in answer.notes)
    assert answer.status == "complete"
    assert answer.choice is not None and answer.choice.text == "blue"
    assert all(0 <= e.start_s < e.end_s <= 8 for e in answer.evidence)


def test_a_model_is_named_for_a_role_and_a_reasoner_by_kind(db: Database) -> None:
    answer = db.ask("red?", strategy="topk(captioner => 'fake:captioner?reply=a+bus', k => 2)")
    assert {e.text for e in answer.evidence} == {"a bus"}
    with pytest.raises(BindError, match="reasoner needs a vision or chat model"):
        db.ask("red?", strategy="topk(reasoner => 'chat')")


def test_words_of_all_kinds_say_which_videos_are_worth_a_look(db: Database) -> None:
    answer = db.ask("something yellow", strategy="tree(videos => 1)")
    found = next(s for s in answer.trace if s.operator == "narrow")
    assert found.outputs["videos"] == ["b.mp4"]
    assert answer.evidence[0].video == "b.mp4"
