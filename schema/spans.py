"""Half-open spans of time, `[start_s, end_s)`, in seconds from the first shown picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one video. Raises ValueError unless `end_s > start_s`.

    >>> Span(1, 3).overlaps(Span(2.5, 4)), Span(1, 3).overlaps(Span(3, 4))
    (True, False)
    """

    start_s: float
    end_s: float

    def __post_init__(self) -> None:
        if not self.end_s > self.start_s:
            raise ValueError(f"a span ends after it starts, not [{self.start_s}, {self.end_s})")

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s

    def contains(self, t_s: float) -> bool:
        return self.start_s <= t_s < self.end_s

    def overlaps(self, other: Span) -> bool:
        return self.start_s < other.end_s and other.start_s < self.end_s

    def intersection(self, other: Span) -> Span | None:
        """The shared part, or None where the two do not overlap."""
        start_s, end_s = max(self.start_s, other.start_s), min(self.end_s, other.end_s)
        return Span(start_s, end_s) if end_s > start_s else None

    def gap_s(self, other: Span) -> float:
        """Seconds between the two, 0 where they touch or overlap."""
        return max(0.0, other.start_s - self.end_s, self.start_s - other.end_s)


def union(spans: Iterable[Span]) -> list[Span]:
    """The same moments as disjoint spans in order; touching spans become one.

    >>> union([Span(3, 4), Span(0, 1), Span(1, 2)])
    [Span(start_s=0, end_s=2), Span(start_s=3, end_s=4)]
    """
    out: list[Span] = []
    for span in sorted(spans):
        if out and span.start_s <= out[-1].end_s:
            out[-1] = Span(out[-1].start_s, max(out[-1].end_s, span.end_s))
        else:
            out.append(span)
    return out


def tile(duration_s: float, cuts_s: Iterable[float]) -> list[Span]:
    """The spans between cuts: they tile `[0, duration_s)` exactly, without gap or overlap.

    Cuts outside `(0, duration_s)` and repeated ones are ignored.
    """
    inside = sorted({c for c in cuts_s if 0 < c < duration_s})
    edges = [0.0, *inside, duration_s]
    return [Span(a, b) for a, b in pairwise(edges)]


def clock(t_s: float) -> str:
    """A time as people copy it.

    >>> clock(751.25), clock(0)
    ('00:12:31.250', '00:00:00')
    """
    ms = round(t_s * 1000)
    whole = f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}"
    return f"{whole}.{ms % 1000:03d}" if ms % 1000 else whole
