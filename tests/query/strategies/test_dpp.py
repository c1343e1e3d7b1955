"""`dpp` on a made video, with models that know only what they are shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import reeldb
from reeldb.database import Database
from reeldb.query.answer import Answer
from reeldb.query.strategies.dpp import Dpp
from reeldb.query.strategies.interpret import parts_of, read_queries
from reeldb.query.strategies.plan import Shape, calls_of, captions_of
from reeldb.schema.errors import BindError, ReelError
from tests.faults import Fault, completion, garbage, status
from tests.made_bench import Bench
from tests.seeing import SeeingServer
from tests.witness import Seen

Both = tuple[Database, SeeingServer]
FEW = 12  # pictures: three moments of a scattered question last longer together


def ask(db: Database, bench: Bench, kind: str, number: int = 0, **options: Any) -> Answer:
    q = bench.questions(kind)[number]
    return db.ask(q.question, choices=q.choices, strategy="dpp", options=options)


def right(db: Database, bench: Bench, kind: str, strategy: str, **options: Any) -> list[bool]:
    answers = [
        db.ask(q.question, choices=q.choices, strategy=strategy, options=options)
        for q in bench.questions(kind)[:3]
    ]
    wanted = [q.answer for q in bench.questions(kind)[:3]]
    return [a.answer == w for a, w in zip(answers, wanted, strict=True)]


def of(answer: Answer, operator: str) -> list[Any]:
    return [step for step in answer.trace if step.operator == operator]


def interpreted(server: SeeingServer) -> list[Seen]:
    return [s for s in server.requests if "queries" in (s.schema or {}).get("properties", {})]


def test_scattered_moments_are_found_where_topk_and_uniform_fail(
    truthful: Both, ten_minutes: Bench
) -> None:
    db, _ = truthful
    assert all(right(db, ten_minutes, "scattered", "dpp", n=FEW))
    assert sum(right(db, ten_minutes, "scattered", "topk", k=FEW)) <= 1
    assert not any(right(db, ten_minutes, "scattered", "uniform", n=FEW))


def test_two_reflections_run_and_are_traced(truthful: Both, ten_minutes: Bench) -> None:
    db, server = truthful
    answer = ask(db, ten_minutes, "scattered")
    assert len(of(answer, "reflect")) == 2
    first, second, *_ = of(answer, "select")
    assert first.inputs["queries"] != second.inputs["queries"]
    assert sum(first.outputs["weights"]) == pytest.approx(1, abs=1e-3)
    overview, *reflections = interpreted(server)
    assert len(overview.moments) == 32
    shown = {m for s in (overview, *reflections) for m in s.moments}
    assert [len(s.moments) for s in reflections] == [32, 32]
    assert 32 < len(shown) <= 64
    chosen = {t for _, t in first.outputs["at"][:16]}
    assert chosen <= set(reflections[0].times_s)
    assert all(s.times_s == sorted(s.times_s) for s in (overview, *reflections))


def test_the_answer_is_made_from_n_pictures_in_time_order_and_cites_what_shows_it(
    truthful: Both, ten_minutes: Bench
) -> None:
    db, server = truthful
    question = ten_minutes.questions("needle")[0]
    answer = ask(db, ten_minutes, "needle", n=10)
    last = server.requests[-1]
    assert len(last.times_s) == 10 and last.times_s == sorted(last.times_s)
    assert answer.answer == question.answer and answer.captions_made == 0
    [(start_s, end_s)] = question.spans
    assert any(e.start_s < end_s and start_s < e.end_s for e in answer.evidence)
    assert all(0 <= e.start_s < e.end_s <= 600 for e in answer.evidence)


@pytest.mark.parametrize("pruning", ["visual", "temporal", "uniform"])
def test_an_overview_is_pruned_as_asked(pruning: str, truthful: Both, ten_minutes: Bench) -> None:
    db, server = truthful
    ask(db, ten_minutes, "order", pruning=pruning, n=12, feedback=6, overview=5, reflections=1)
    overview, reflected = interpreted(server)
    kept = set(overview.moments) & set(reflected.moments)
    if pruning == "uniform":
        assert reflected.moments == overview.moments
    else:
        assert len(reflected.moments) == 11 and len(kept) >= 5


def test_only_the_interpreter_is_asked_at_a_temperature(truthful: Both, ten_minutes: Bench) -> None:
    db, server = truthful
    ask(db, ten_minutes, "needle", n=8, reflections=0)
    ask(db, ten_minutes, "needle", n=8, reflections=0, interpreter_temperature=0.5)
    asked = [s.body["temperature"] for s in interpreted(server)]
    assert asked == [0.8, 0.5]  # other addresses: the second was not taken from the first
    rest = [s for s in server.requests if s not in interpreted(server)]
    assert rest and {s.body["temperature"] for s in rest} == {0}


def test_the_same_question_again_makes_no_call(truthful: Both, ten_minutes: Bench) -> None:
    db, server = truthful
    first = ask(db, ten_minutes, "scattered")
    made = server.calls
    again = ask(db, ten_minutes, "scattered")
    assert server.calls == made == first.calls
    assert (again.answer, again.evidence, again.calls) == (first.answer, first.evidence, 0)


def test_it_stays_within_the_bound_that_explain_gives(truthful: Both, ten_minutes: Bench) -> None:
    db, server = truthful
    lines = Dpp().plan(Shape(600, chat=True, sees=True))
    answer = ask(db, ten_minutes, "counting")
    assert (captions_of(lines), calls_of(lines)) == (0, 4)
    assert answer.calls == server.calls <= 4
    text_only = Dpp(n=8, reflections=0).plan(Shape(600, chat=True, sees=False))
    assert (captions_of(text_only), calls_of(text_only)) == (8, 2)


def test_without_a_language_model_the_parts_of_the_question_are_the_sub_queries(
    ten_minutes: Bench, truthful: Both
) -> None:
    db, server = truthful
    question = ten_minutes.questions("scattered")[0]
    answer = ask(db, ten_minutes, "scattered", reasoner="embedding")
    assert server.calls == 0
    assert answer.reasoner == "embedding"
    [step] = of(answer, "select")
    assert step.inputs["queries"] == list(question.choices)
    assert any("no model wrote sub-queries" in n for n in answer.notes)
    assert answer.evidence and answer.choice


def test_without_sub_queries_the_question_alone_chooses(truthful: Both, ten_minutes: Bench) -> None:
    db, server = truthful
    answer = ask(db, ten_minutes, "needle", interpret=False)
    assert not interpreted(server)
    assert [s.inputs["queries"] for s in of(answer, "select")] == [[]]
    assert answer.answer == ten_minutes.questions("needle")[0].answer


def test_select_frames_chooses_as_the_question_alone_does(
    truthful: Both, ten_minutes: Bench
) -> None:
    db, _ = truthful
    question = ten_minutes.questions("scattered")[0].question
    answer = db.ask(question, strategy="dpp", options={"interpret": False, "n": FEW})
    [step] = of(answer, "select")
    rows = db.sql(
        f"SELECT video, t_s FROM select_frames(?, k => {FEW}, method => 'dpp')", [question]
    ).fetchall()
    assert sorted(map(list, rows)) == sorted(step.outputs["at"])


FAULTS = {
    "no JSON": garbage(),
    "empty": Fault(body=completion("")),
    "a refusal": Fault(body=completion("I'm sorry, I can't help with that.")),
    "a list": Fault(body=completion('["Ada", 7, null, "frame 12", "at 00:12:31", ""]')),
    "another object": Fault(body=completion('{"texts": []}')),
    "a lost call": status(500, "Internal"),
}


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_wrong_reply_of_the_interpreter_is_named_and_the_question_still_answered(
    fault: str, truthful: Both, ten_minutes: Bench
) -> None:
    db, server = truthful
    honest = server.witness
    body = FAULTS[fault]

    def answered(seen: Seen) -> Fault | None:
        return body if "queries" in (seen.schema or {}).get("properties", {}) else None

    wrong = server.answer
    server.answer = lambda seen: answered(seen) or wrong(seen)  # type: ignore[method-assign]
    answer = ask(db, ten_minutes, "needle", n=8)
    assert server.witness is honest
    assert answer.status == "complete"
    assert answer.answer == ten_minutes.questions("needle")[0].answer
    if fault != "a list":
        assert any("reply of the interpreter" in n for n in answer.notes), answer.notes
        assert all(s.inputs["queries"] == [] for s in of(answer, "select"))
    else:
        assert all(s.inputs["queries"] == ["Ada"] for s in of(answer, "select"))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"queries": ["a cat", "a cat", " a  dog "]}', ("a cat", "a dog")),
        ("```json\n{'queries': ['a cat',]}\n```", ("a cat",)),
        ('{"queries": ["at 00:12:31 a cat", "frame 12", "a clock on the wall"]}',
         ("a clock on the wall",)),
        ('{"queries": ["who?"]}', None),
        ('{"queries": "a cat"}', None),
        ('{"queries": [1, 2]}', None),
        ("a cat", None),
    ],
)  # fmt: skip
def test_sub_queries_are_read_and_places_left_out(text: str, read: tuple[str, ...] | None) -> None:
    assert read_queries(text, "who?", 4) == read


def test_no_more_sub_queries_than_asked_for_and_none_too_long() -> None:
    said = json.dumps({"queries": [f"{i} {'x' * 900}" for i in "abcdefg"]})
    read = read_queries(said, "who?", 3)
    assert read is not None and len(read) == 3 and max(map(len, read)) <= 200


def test_a_question_of_one_clause_without_options_has_no_parts() -> None:
    assert parts_of("Who spills the milk?", [], 4) == ()
    assert parts_of("Who comes in, and what falls down after that?", [], 4) == (
        "Who comes in", "what falls down",
    )  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [{"n": 0}, {"alpha": 1}, {"question_weight": 2}, {"temperature": 0}, {"pruning": "x"},
     {"weighting": "x"}, {"interpreter_temperature": 3}, {"reflections": 99}, {"beta": 0},
     {"videos": 0}],
)  # fmt: skip
def test_an_option_out_of_range_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(BindError, match=next(iter(options))):
        Dpp(**options)


def test_an_archive_without_vectors_says_what_to_do(ten_minutes: Bench, tmp_path: Path) -> None:
    db = reeldb.open(tmp_path / "plain")
    db.add(ten_minutes.folder / "videos", embedder="none")
    with pytest.raises(ReelError, match="embedder"):
        db.ask("who?", strategy="dpp")
