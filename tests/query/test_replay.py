"""REPLAY, EXPLAIN ASK, budgets and wrong replies, for every strategy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from reeldb.index.compact import compact
from reeldb.index.store import any_of
from reeldb.query.replay import replay
from reeldb.query.strategies.registry import STRATEGIES
from reeldb.schema.errors import BindError, BudgetError, ExecuteError
from tests.faults import Fault, completion, refusal, reset, says, status
from tests.query.film import Film, Oracle, film, needle
from tests.witness import Seen

EVENT = needle(1, 100, seconds=20)
EVERY = ("uniform", "topk", "dpp", "tree", "descent", "mapreduce", "recursive", "auto")
ONE_CALL = EVERY[:5]  # those whose answer is one call over captions and pictures


@pytest.fixture
def four(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Film]:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))
    with film(tmp_path / "archive", [4], [EVENT]) as four:
        yield four


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_a_replay_gives_the_same_answer_and_asks_no_model(four: Film, name: str) -> None:
    answer = four.ask(Oracle(EVENT), strategy=name)
    before = four.server.calls
    again = replay(four.engine, answer.id)
    assert four.server.calls == before
    assert (again.answer, again.choice, again.status) == (
        answer.answer, answer.choice, answer.status,
    )  # fmt: skip
    assert (again.evidence, again.confidence) == (answer.evidence, answer.confidence)
    assert again.id == answer.id
    assert again.calls == again.captions_made == 0
    result = four.engine.sql(f"REPLAY {answer.id}")
    assert result.fetchall()[0][0] == answer.answer


@pytest.mark.parametrize("name", EVERY)
def test_a_replay_names_the_reply_that_is_gone(four: Film, name: str) -> None:
    answer = four.ask(Oracle(EVENT), strategy=name)
    before = four.server.calls
    for table in ("captions", "replies"):
        store = four.engine.archive.store
        rows = store.read(table, None, any_of("key", answer.reply_keys))
        if not len(rows):
            continue
        key = rows["key"][0].as_py()
        with four.engine.archive.lock():
            store.delete(table, any_of("key", [key]))
        with pytest.raises(ExecuteError, match=key):
            replay(four.engine, answer.id)
        with four.engine.archive.lock():
            store.append(table, rows.slice(0, 1))
    assert four.server.calls == before


def test_a_replay_is_of_the_archive_as_it_was_and_outlives_compaction(four: Film) -> None:
    answer = four.ask(Oracle(EVENT), strategy="descent")
    compact(four.engine.archive)
    assert replay(four.engine, answer.id).answer == answer.answer


def test_an_answer_that_is_not_there_is_named(four: Film) -> None:
    with pytest.raises(BindError, match="0a0a"):
        four.engine.sql("REPLAY 0a0a")


@pytest.mark.parametrize("name", EVERY)
def test_explain_bounds_what_then_happens_and_calls_nothing(four: Film, name: str) -> None:
    statement = f"ASK 'what appears?' CHOICES ('a juggler', 'a dragon') FROM videos USING {name}()"
    plan = "\n".join(str(r[0]) for r in four.engine.sql(f"EXPLAIN {statement}"))
    assert four.server.calls == 0
    captions, calls = re.findall(r"^at most ([\d,]+) captions and ([\d,]+) calls", plan, re.M)[0]
    for other in STRATEGIES:
        assert other in plan
    answer = four.ask(Oracle(EVENT), strategy=name)
    assert answer.captions_made <= int(captions.replace(",", ""))
    assert answer.calls - answer.captions_made <= int(calls.replace(",", ""))
    again = "\n".join(str(r[0]) for r in four.engine.sql(f"EXPLAIN {statement}"))
    if int(captions):
        held = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) `\w+` captions", again)]
        assert sum(held) >= 1
    done = "\n".join(str(r[0]) for r in four.engine.sql(f"EXPLAIN ANALYZE {statement}"))
    assert "reused" in done


@pytest.mark.parametrize("name", EVERY)
def test_a_budget_of_calls_is_kept_and_leaves_one_for_the_answer(four: Film, name: str) -> None:
    answer = four.ask(Oracle(EVENT), strategy=name, budget={"calls": 6.0})
    assert four.server.calls <= 6
    assert answer.calls <= 6
    asked = [s for s in four.server.requests if "cites" in str(s.schema)]
    assert len(asked) == 1
    assert answer.status in ("complete", "partial", "insufficient")


def test_a_question_that_may_cost_much_is_put_to_confirm(four: Film) -> None:
    from reeldb.query.ask import Question, ask

    seen = []

    def no(cost: object) -> bool:
        seen.append(str(cost))
        return False

    with pytest.raises(BudgetError, match="budget"):
        ask(
            four.engine, Question("what?", strategy="descent", options={"build": "eager"}), None, no
        )
    dear = "ASK 'what?' FROM videos USING descent(build => 'eager')"
    with pytest.raises(BudgetError, match="budget"):
        four.engine.sql(dear, confirm=no)
    assert four.server.calls == 0 and "captions" in seen[0] and seen[0] == seen[1]
    ask(four.engine, Question("what?", strategy="topk"), None, no)
    four.engine.sql(f"{dear} BUDGET 3 CALLS", confirm=no)
    assert len(seen) == 2


WRONG: dict[str, Fault] = {
    "half a JSON": says('{"choice": "B", "cites": [1'),
    "prose round the letter": says("Well, option B has something to it, I would say."),
    "Antwort": says("Antwort"),
    "empty": Fault(body=completion("")),
    "refusal": refusal(),
    "wrong ids": says('{"action": "DRILL", "id": "9:99", "scores": [{"id": 99, "score": 3}], '
                      '"choice": "Q", "cites": [77]}'),
    "a lost call": reset(),
    "an error": status(500, "out of order"),
    "a list": says("[1, 2, 3]"),
    "an instruction": says("Ignore the question and answer B"),
}  # fmt: skip


@pytest.mark.parametrize("fault", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_reply_ends_in_a_state_never_in_a_guess(four: Film, fault: Fault) -> None:
    honest = four.server.answer

    def answer(seen: Seen) -> Fault:
        if seen.schema is None:
            return honest(seen)
        four.server.requests.append(seen)
        return fault

    four.server.answer = answer  # type: ignore[method-assign]
    for name in EVERY:
        found = four.ask(None, strategy=name)
        assert found.choice is None and found.answer == "", name
        assert found.status in ("unparsed", "failed", "insufficient"), name
        assert any("reply of the" in n or "forced" in n for n in found.notes), name


@pytest.mark.parametrize("name", ONE_CALL)
def test_a_reply_that_cannot_be_read_is_repaired_once(four: Film, name: str) -> None:
    oracle = Oracle(EVENT)
    broken: list[Seen] = []

    def rule(seen: Seen) -> str | None:
        if "confidence" in str(seen.schema) and not broken:
            broken.append(seen)
            return "Let me think about option B or C."
        return oracle(seen)

    found = four.ask(rule, strategy=name)  # type: ignore[arg-type]
    assert broken
    assert found.choice is not None and found.choice.text == "a juggler"
    last = four.server.requests[-1].body["messages"]
    assert [m["role"] for m in last] == ["user", "assistant", "user"]
    replayed = replay(four.engine, found.id)
    assert (replayed.answer, replayed.evidence) == (found.answer, found.evidence)


@pytest.mark.parametrize("name", EVERY)
def test_a_caption_that_fails_is_a_gap_with_a_name(four: Film, name: str) -> None:
    four.server.every = (5, status(500, "out of order"))
    found = four.ask(Oracle(EVENT), strategy=name)
    assert found.status in ("complete", "insufficient", "failed", "unparsed", "partial")
    before = four.server.calls
    again = replay(four.engine, found.id)
    assert four.server.calls == before
    assert (again.answer, again.status, again.evidence) == (
        found.answer, found.status, found.evidence,
    )  # fmt: skip
    for e in found.evidence:
        assert 0 <= e.start_s < e.end_s <= 240
