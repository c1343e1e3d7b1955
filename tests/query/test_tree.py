"""`tree` on embeddings whose clusters are known, judged by somebody who knows the events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reeldb.query.answer import Answer
from reeldb.query.strategies.plan import Shape, captions_of
from reeldb.query.strategies.tree import Tree
from reeldb.schema.errors import BindError
from tests.query.film import Film, Oracle, film, needle

EVENT = needle(1, 300, seconds=40)


@pytest.fixture
def ten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Film]:
    """Ten minutes of twelve kinds of scenes that come again, and one event of 40 seconds."""
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))
    with film(tmp_path / "archive", [10], [EVENT]) as ten:
        yield ten


def tree(ten: Film, judged: int = 3, question: str = "what appears?", **options: Any) -> Answer:
    oracle = Oracle(EVENT, judged=judged)
    return ten.ask(oracle, question, strategy="tree", options=options)


def looked(answer: Answer) -> list[int]:
    """How many pictures each look was asked for."""
    return [int(str(s.inputs["pictures"])) for s in answer.trace if s.operator == "caption"]


def test_an_event_that_looks_different_is_a_cluster_and_its_keyframe_tells(ten: Film) -> None:
    answer = tree(ten)
    assert answer.choice is not None and answer.choice.text == "a juggler"
    assert 300 <= answer.evidence[0].start_s < 340


def test_clusters_double_until_enough_are_highly_relevant(ten: Film) -> None:
    assert looked(tree(ten, threshold=1))[0] == 8
    assert len(looked(tree(ten, threshold=1))) <= 3
    assert looked(tree(ten, threshold=500))[:3] == [8, 16, 32]


def test_captions_and_calls_stay_within_the_bound(ten: Film) -> None:
    worst = Tree().plan(Shape(8400, chat=True))
    assert captions_of(worst) == (8 + 16 + 32) + 32 * (4 + 16) == 696
    assert sum(line.calls for line in worst) == 3 + 1
    answer = tree(ten)
    assert answer.captions_made <= captions_of(Tree().plan(Shape(600, chat=True)))
    assert sum(s.calls for s in answer.trace if s.operator in ("chat", "see")) <= 4


@pytest.mark.parametrize(("judged", "below"), [(1, 0), (2, 4), (3, 20)])
def test_the_more_relevant_a_cluster_the_deeper_it_is_clustered(
    ten: Film, judged: int, below: int
) -> None:
    answer = tree(ten, judged, k=8, max_breadth=8)
    first, last = looked(answer)
    relevant = last - first  # keyframes below; a keyframe may be that of its parent too
    assert (relevant == 0) if not below else (0 < relevant <= below * 8)
    if judged == 3:
        two = looked(tree(ten, 2, "what else?", k=8, max_breadth=8))
        assert last > two[-1]


def test_a_repeated_question_makes_no_call_and_another_shares_keyframes(ten: Film) -> None:
    first = tree(ten)
    again = tree(ten)
    assert (again.captions_made, again.calls) == (0, 0)
    assert (again.answer, again.evidence) == (first.answer, first.evidence)
    other = tree(ten, question="who is on the road?")
    assert other.captions_reused >= 8 + 16 + 32 - 8
    assert other.captions_made == 0  # the same scores here, so the same tree


@pytest.mark.parametrize(
    "options",
    [
        {"adaptive": False},
        {"depth": 1},
        {"max_depth": 2},
        {"order": "tree"},
        {"captioner_sees_question": True},
        {"clip_seconds": 4},
        {"short": True},
        {"fps": 0.125},
        {"seed": 7},
    ],
    ids=str,
)
def test_each_ablation_runs_and_finds_the_event(ten: Film, options: dict[str, Any]) -> None:
    answer = tree(ten, **options)
    assert answer.status in ("complete", "insufficient")
    assert answer.status == "complete" or options.get("fps")
    lines = Tree(**{k: v for k, v in options.items() if k != "max_depth"}).plan(Shape(600))
    assert answer.captions_made <= captions_of(lines)


def test_depth_one_captions_nothing_below(ten: Film) -> None:
    [*_, second, last] = looked(tree(ten, depth=1))
    assert last == second


def test_fewer_pictures_than_clusters_are_a_cluster_each(ten: Film) -> None:
    scope = "(SELECT video_id, 298.0 AS start_s, 303.0 AS end_s FROM videos) AS r"
    answer = ten.ask(Oracle(EVENT), strategy="tree", scope=scope)
    assert answer.captions_made == 5
    assert answer.choice is not None and answer.choice.text == "a juggler"


def test_a_cluster_without_a_score_is_not_relevant_and_reported(ten: Film) -> None:
    class Forgetful(Oracle):
        def _score(self, prompt: str) -> str:
            return '{"scores": [{"id": 1, "score": 3}]}'

    answer = ten.ask(Forgetful(EVENT), strategy="tree", options={"k": 8, "max_breadth": 8})
    assert any("7 of 8" in n and "no score" in n for n in answer.notes)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"k": 0}, "1 to 256"),
        ({"max_breadth": 4}, "8 to 1024"),
        ({"depth": 4}, "1 to 3"),
        ({"order": "random"}, "temporal, tree"),
        ({"adaptive": 3}, "true or false"),
        ({"branch": 3}, "branch_width"),
        ({"reasoner": "openai"}, "openai"),
    ],
    ids=str,
)
def test_a_bad_option_is_named_with_what_is_possible(
    ten: Film, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(Exception, match=says) as error:
        tree(ten, **options)
    assert isinstance(error.value, BindError) or "openai" in str(error.value)
