"""The sampling grid: nominal times in whole milliseconds, the same for every copy of a video."""

from __future__ import annotations

import math

from reeldb.schema.settings import grid_ms
from reeldb.schema.spans import Span


def key_ms(span: Span, fps: float) -> int | None:
    """The grid time inside `span` that is nearest to its middle, or None where none is."""
    middle_s = (span.start_s + span.end_s) / 2
    k = math.floor(middle_s * fps)
    times = [grid_ms(fps, n) for n in range(max(0, k - 1), k + 3)]
    inside = [ms for ms in times if span.contains(ms / 1000)]
    return min(inside, key=lambda ms: abs(ms / 1000 - middle_s), default=None)


def middle_ms(span: Span) -> float:
    """The middle of `span` in whole milliseconds; its start where no millisecond lies inside.

    >>> middle_ms(Span(1.0, 1.5)), middle_ms(Span(0.0333, 0.0667)), middle_ms(Span(0.0001, 0.0003))
    (1250, 50, 0.1)
    """
    ms = round((span.start_s + span.end_s) * 500)
    for whole in (ms, math.ceil(span.start_s * 1000)):
        if span.contains(whole / 1000):
            return whole
    return span.start_s * 1000
