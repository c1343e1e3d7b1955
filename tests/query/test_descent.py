"""`descent` over long films, with a searcher that knows the true events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import ceil, log
from pathlib import Path

import pytest

from tests.query.film import Film, Oracle, film, needle

AT_S = 5123.0
EVENT = needle(1, AT_S)


def drill(node: str) -> str:
    return json.dumps({"action": "DRILL", "id": node, "answer": ""})


def straight(pictures: int, leaf: int = 16) -> int:
    return 1 + 4 * ceil(log(pictures / leaf, 4)) + leaf


@pytest.fixture
def long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Film]:
    """140 minutes: 8,400 grid pictures."""
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))
    with film(tmp_path / "archive", [140], [EVENT]) as long:
        yield long


@pytest.fixture
def short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Film]:
    """Four minutes: the root, two levels below it, then leaves."""
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))
    with film(tmp_path / "archive", [4], [needle(1, 200)]) as short:
        yield short


def test_a_needle_in_140_minutes_is_found_within_the_papers_bound(long: Film) -> None:
    answer = long.ask(Oracle(EVENT), strategy="descent")
    assert answer.choice is not None and answer.choice.text == "a juggler"
    assert answer.captions_made <= straight(8400) == 37
    best = answer.evidence[0]
    assert best.start_s <= AT_S < best.end_s
    made = len([s for s in long.server.requests if "action" not in json.dumps(s.schema or {})])
    assert made == answer.captions_made + 1  # the captions, and the reasoner's answer


def test_captions_grow_with_the_logarithm_of_the_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))
    made = {}
    for minutes in (40, 140):
        event = needle(1, minutes * 40.0)
        with film(tmp_path / str(minutes), [minutes], [event]) as one:
            made[minutes] = one.ask(Oracle(event), strategy="descent").captions_made
            assert made[minutes] <= straight(minutes * 60)
    assert made[140] - made[40] <= 4 + 16


def test_another_question_shares_the_nodes_on_its_way(long: Film) -> None:
    first = long.ask(Oracle(EVENT), strategy="descent")
    again = long.ask(Oracle(EVENT), strategy="descent")
    assert (again.captions_made, again.calls) == (0, 0)
    assert again.captions_reused == first.captions_made
    other = long.ask(Oracle(needle(1, 100.0)), "what else?", strategy="descent")
    assert other.captions_reused >= 5


def test_a_wrong_turn_is_taken_back_by_one_level(short: Film) -> None:
    oracle = Oracle(short.events[0], [drill("1:0")])
    answer = short.ask(oracle, strategy="descent")
    assert answer.choice is not None and answer.choice.text == "a juggler"
    assert "DRILL 1:180" in oracle.told[1]  # the frontier before is still in the menu
    assert answer.captions_made <= straight(240) + 4


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (drill("7:7"), "7:7 is not in the menu"),
        (json.dumps({"action": "EXPAND", "id": "1:0"}), "by DRILL only"),
        ("I think we should look around.", "no action"),
        ("DRILL 1:0\nDRILL 1:60", "more than one action"),
        ('{"action": "JUMP", "id": "1:0"}', "names no action"),
    ],
)
def test_an_invalid_action_is_told_so_and_uses_up_a_round(
    short: Film, reply: str, said: str
) -> None:
    oracle = Oracle(short.events[0], [reply])
    answer = short.ask(oracle, strategy="descent")
    assert said in oracle.told[1]
    assert "Rounds left: 12" in oracle.told[0] and "Rounds left: 11" in oracle.told[1]
    assert answer.choice is not None and answer.choice.text == "a juggler"


def test_rounds_without_progress_force_an_answer(short: Film) -> None:
    oracle = Oracle(short.events[0], [drill("1:0")] * 9)
    answer = short.ask(oracle, strategy="descent")
    assert len(oracle.told) == 5  # one opens it, three do nothing new, one has to answer
    assert "Menu:\nANSWER" in oracle.told[4]
    assert any("without progress" in n for n in answer.notes)
    assert answer.status == "insufficient"


def test_rounds_that_are_used_up_force_an_answer(short: Film) -> None:
    oracle = Oracle(short.events[0])
    answer = short.ask(oracle, strategy="descent", options={"rounds": 1})
    assert len(oracle.told) == 2
    assert any("1 rounds are used up" in n for n in answer.notes)


def test_where_the_reasoner_has_not_enough_the_searchers_answer_stands(short: Film) -> None:
    answer = short.ask(Oracle(short.events[0], sufficient=False), strategy="descent")
    assert answer.choice is not None and answer.choice.text == "a juggler"
    assert any("searcher's own answer" in n for n in answer.notes)
    assert answer.evidence and answer.status == "complete"


def test_without_a_reasoner_the_searcher_answers_alone(short: Film) -> None:
    oracle = Oracle(short.events[0], sufficient=False)
    answer = short.ask(oracle, strategy="descent", options={"reasoner": False})
    assert answer.choice is not None and answer.choice.text == "a juggler"
    assert not any(s.operator == "see" for s in answer.trace)


def test_a_span_of_one_leaf_is_expanded_at_once(short: Film) -> None:
    scope = "(SELECT video_id, 195.0 AS start_s, 205.0 AS end_s FROM videos) AS r"
    oracle = Oracle(short.events[0], [json.dumps({"action": "EXPAND", "id": "0:0"})])
    answer = short.ask(oracle, strategy="descent", scope=scope)
    assert "EXPAND 0:0" in oracle.told[0]
    assert answer.captions_made == 1 + 10
    assert answer.choice is not None and answer.choice.text == "a juggler"


def test_similarity_can_search_in_the_searchers_place(short: Film) -> None:
    answer = short.ask(Oracle(short.events[0]), strategy="descent", options={"scorer": "embedding"})
    assert not any(s.inputs.get("role") == "searcher" for s in answer.trace)
    assert any(s.operator == "cosines" for s in answer.trace)
    assert answer.status in ("complete", "insufficient")


def test_an_eager_tree_captions_every_picture_first(short: Film) -> None:
    answer = short.ask(Oracle(short.events[0]), strategy="descent", options={"build": "eager"})
    nodes = 1 + 4 + 16
    assert answer.captions_made == 240 + nodes
    assert answer.choice is not None and answer.choice.text == "a juggler"


def test_of_several_videos_each_is_a_branch_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))
    event = needle(2, 100)
    with film(tmp_path / "archive", [3, 3, 3], [event]) as three:
        answer = three.ask(_Second(event), strategy="descent")
        assert answer.evidence[0].video == "2.mp4"
        few = three.ask(_Second(event), "again?", strategy="descent", options={"videos": 1})
        assert any(s.operator == "narrow" for s in few.trace)


class _Second(Oracle):
    """Goes into the second video, whose lines have its name before the time."""

    def _act(self, prompt: str) -> str:
        if self.event.text in prompt:
            return super()._act(prompt)
        if "\nDRILL 1:180\n" in prompt and "\nDRILL 2:" not in prompt:
            return drill("1:180")
        return super()._act(prompt.replace("2.mp4 @ ", ""))
