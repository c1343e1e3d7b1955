from __future__ import annotations

import random

from reeldb.ingest.grid import key_ms, middle_ms
from reeldb.schema.settings import grid_ms
from reeldb.schema.spans import Span


def test_the_key_is_the_grid_time_nearest_to_the_middle() -> None:
    assert key_ms(Span(0, 5), 1) == 2000
    assert key_ms(Span(0.5, 1.1), 1) == 1000
    assert key_ms(Span(2, 2.5), 1) == 2000
    assert key_ms(Span(2.1, 2.9), 1) is None
    assert key_ms(Span(0, 100), 0.01) == 0


def test_the_key_is_right_for_every_rate() -> None:
    rng = random.Random(0)
    for _ in range(2000):
        fps = rng.choice([0.1, 0.5, 1, 2, 3, 7, 29.97, 240, 1000])
        start = rng.uniform(0, 50)
        span = Span(start, start + rng.expovariate(1))
        near = int(span.start_s * fps) - 2
        grid = [grid_ms(fps, k) for k in range(max(0, near), int(span.end_s * fps) + 3)]
        middle = (span.start_s + span.end_s) / 2
        inside = [ms for ms in grid if span.contains(ms / 1000)]
        expected = min((abs(ms / 1000 - middle) for ms in inside), default=None)
        found = key_ms(span, fps)
        assert (found is None) == (expected is None)
        assert found is None or abs(found / 1000 - middle) == expected


def test_the_middle_lies_inside_even_where_no_millisecond_does() -> None:
    for span in (Span(0.3, 0.9), Span(1 / 3, 1 / 3 + 0.001), Span(0.0001, 0.0009), Span(1, 1.04)):
        assert span.contains(middle_ms(span) / 1000)
