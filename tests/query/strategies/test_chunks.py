"""Chunks, routing and joins: the pure parts of `recursive`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reeldb.query.strategies.chunks import LEAST_S, fixed_chunks, parts, scene_chunks, snapped
from reeldb.query.strategies.joins import groups, joined
from reeldb.query.strategies.routing import TOOLS, route, scores, tool_words

LENGTHS = st.lists(st.floats(0.04, 200, allow_nan=False), min_size=1, max_size=60)


def tiles(lengths: list[float]) -> list[tuple[float, float]]:
    edges = [0.0]
    for length in lengths:
        edges.append(edges[-1] + length)
    return list(pairwise(edges))


@given(LENGTHS)
def test_chunks_are_long_disjoint_ordered_and_exhaustive(lengths: list[float]) -> None:
    scenes = tiles(lengths)
    edges = {t for scene in scenes for t in scene}
    for chunks, cut in (
        (scene_chunks(scenes), edges),
        (fixed_chunks(scenes[0][0], scenes[-1][1]), None),
    ):
        assert chunks[0][0] == scenes[0][0] and chunks[-1][1] == scenes[-1][1]
        assert all(a[1] == b[0] for a, b in pairwise(chunks))
        if len(chunks) > 1:
            assert all(b - a >= LEAST_S - 0.002 for a, b in chunks)
        if cut is not None:
            assert {t for c in chunks for t in c} <= cut


def test_a_video_shorter_than_a_chunk_is_one_chunk() -> None:
    assert scene_chunks([(0.0, 3.0), (3.0, 8.0)]) == [(0.0, 8.0)]
    assert fixed_chunks(0.0, 8.0) == [(0.0, 8.0)]
    assert scene_chunks([]) == []


def test_fixed_chunks_cut_through_scenes_where_scene_chunks_do_not() -> None:
    scenes = [(0.0, 50.0), (50.0, 100.0)]
    assert scene_chunks(scenes) == scenes
    assert fixed_chunks(0.0, 100.0)[0] == (0.0, 33.333)


@given(st.integers(0, 500), st.integers(1, 40))
def test_parts_are_even_small_enough_and_cover_all(count: int, most: int) -> None:
    found = parts(count, most)
    assert sum(b - a for a, b in found) == count
    assert all(0 < b - a <= most for a, b in found)
    assert len({b - a for a, b in found}) <= 2


def test_spans_snap_to_scenes_with_a_margin() -> None:
    scenes = [(0.0, 5.0), (5.0, 10.0), (10.0, 20.0), (20.0, 25.0)]
    assert snapped([(12.0, 13.0)], scenes, margin=1) == [(5.0, 25.0)]
    assert snapped([(90.0, 95.0)], scenes) == []


SMALL = {
    "actions": frozenset({"runs", "jumps"}),
    "speech": frozenset({"says", "talks", "voice", "asks"}),
    "text": frozenset({"sign"}),
    "objects": frozenset({"car", "dog"}),
}


@pytest.mark.parametrize(
    ("summary", "tools"),
    [
        ("Nothing of note.", ()),
        ("A dog runs and jumps.", ("actions",)),
        ("He says, she asks; a voice talks.", ("speech",)),
        ("He says, she asks; a sign is seen.", ("ocr",)),  # 2 of 4 against 1 of 1
        ("A dog runs.", tuple(TOOLS.values())),  # 1 of 2 twice: a tie
        ("runs runs runs, a car and a dog", ("objects",)),  # a word counts once
        ("RUNS! Jumps.", ("actions",)),
        ("carpet, dogma", ()),  # whole words only
    ],
)
def test_routing_is_the_papers_algorithm_two(summary: str, tools: tuple[str, ...]) -> None:
    assert route(summary, SMALL) == tools


def test_the_keyword_sets_are_disjoint_lower_case_and_named_for_the_four_signals() -> None:
    words = tool_words()
    assert list(words) == list(TOOLS)
    every = [w for known in words.values() for w in known]
    assert len(every) == len(set(every))
    assert all(w == w.lower() for w in every)
    assert scores("the presenter speaks")["speech"] > scores("the presenter speaks")["objects"]


@given(st.lists(st.integers(1, 30), max_size=50), st.integers(1, 40))
def test_groups_cover_all_in_order_and_shrink(sizes: list[int], most: int) -> None:
    found = groups(sizes, most)
    assert [i for a, b in found for i in range(a, b)] == list(range(len(sizes)))
    assert all(b - a == 2 or sum(sizes[a:b]) <= most or b - a == 1 for a, b in found)
    if len(sizes) > 1:
        assert len(found) < len(sizes)


def test_what_fits_is_joined_at_once_and_what_does_not_by_levels() -> None:
    calls: list[int] = []

    def join_into(length: int) -> Callable[[list[list[str]]], list[str]]:
        def join(several: list[list[str]]) -> list[str]:
            calls.append(len(several))
            return ["".join(s)[:length] for s in several]

        return join

    assert joined(["a", "b", "c"], len, 10, join_into(9)) == ("abc", 1)  # type: ignore[arg-type]
    assert joined(["a"], len, 10, join_into(9)) == ("a", 0)  # type: ignore[arg-type]
    assert joined([], len, 10, join_into(9)) == (None, 0)  # type: ignore[arg-type]
    calls.clear()
    text, levels = joined(["aaaa"] * 9, len, 12, join_into(4))  # type: ignore[arg-type]
    assert (text, levels, calls) == ("aaaa", 2, [3, 1])
