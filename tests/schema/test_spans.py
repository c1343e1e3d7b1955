from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reeldb.schema.spans import Span, clock, tile, union

times = st.floats(0, 1e5, allow_nan=False)
spans = st.tuples(times, times).filter(lambda p: p[0] < p[1]).map(lambda p: Span(*p))


@pytest.mark.parametrize("bad", [(1.0, 1.0), (2.0, 1.0), (0.0, math.nan)])
def test_a_span_must_end_after_it_starts(bad: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="ends after it starts"):
        Span(*bad)


@given(spans, spans)
def test_two_spans_overlap_exactly_when_they_share_a_part(a: Span, b: Span) -> None:
    assert a.overlaps(b) == b.overlaps(a) == (a.intersection(b) is not None)


@given(spans, spans)
def test_the_shared_part_lies_in_both(a: Span, b: Span) -> None:
    both = a.intersection(b)
    if both is not None:
        assert max(a.start_s, b.start_s) == both.start_s
        assert min(a.end_s, b.end_s) == both.end_s
        assert a.gap_s(b) == 0


@given(st.lists(spans, max_size=8), times)
def test_a_union_holds_the_same_moments_without_overlap(many: list[Span], t_s: float) -> None:
    merged = union(many)
    assert any(s.contains(t_s) for s in many) == any(s.contains(t_s) for s in merged)
    assert all(a.end_s < b.start_s for a, b in pairwise(merged))


@given(st.floats(0.01, 1e5), st.lists(times, max_size=12))
def test_scenes_tile_the_whole_video(duration_s: float, cuts_s: list[float]) -> None:
    tiles = tile(duration_s, cuts_s)
    assert tiles[0].start_s == 0
    assert tiles[-1].end_s == duration_s
    assert all(a.end_s == b.start_s for a, b in pairwise(tiles))


@given(st.integers(0, 10**9))
def test_a_clock_can_be_read_back(ms: int) -> None:
    hours, minutes, seconds = clock(ms / 1000).split(":")
    assert round((int(hours) * 3600 + int(minutes) * 60 + float(seconds)) * 1000) == ms
