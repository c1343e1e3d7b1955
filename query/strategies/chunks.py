"""Chunks: scenes merged into stretches that are long enough to mean something.

Semantic Temporal Decomposition (RVLSM, section 3): chunks are disjoint, in order, cover the
whole, and none is shorter than 30 s, unless the whole is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

LEAST_S = 30.0
Chunk = tuple[float, float]


def scene_chunks(scenes: Iterable[Chunk], least_s: float = LEAST_S) -> list[Chunk]:
    """Adjacent scenes `[start_s, end_s)` merged until each chunk lasts `least_s`.

    A rest that is too short joins the chunk before it. Scenes tile a span, in order.

    >>> scene_chunks([(0, 20), (20, 45), (45, 50), (50, 90), (90, 99)])
    [(0, 45), (45, 99)]
    """
    out: list[Chunk] = []
    open_: Chunk | None = None
    for start_s, end_s in scenes:
        first_s = start_s if open_ is None else open_[0]
        if end_s - first_s >= least_s:
            out.append((first_s, end_s))
            open_ = None
        else:
            open_ = (first_s, end_s)
    if open_ is not None:
        first_s = out.pop()[0] if out else open_[0]
        out.append((first_s, open_[1]))
    return out


def fixed_chunks(start_s: float, end_s: float, least_s: float = LEAST_S) -> list[Chunk]:
    """Chunks of equal length, as many as there can be of at least `least_s`.

    >>> fixed_chunks(0, 100, 30)
    [(0, 33.333), (33.333, 66.667), (66.667, 100)]
    """
    n = max(1, int((end_s - start_s + 1e-9) / least_s))
    inner = [round(start_s + (end_s - start_s) * i / n, 3) for i in range(1, n)]
    edges = [start_s, *inner, end_s]
    return list(pairwise(edges))


def parts(count: int, most: int) -> list[tuple[int, int]]:
    """`count` things in the fewest equal parts of at most `most`: `[first, last)` of each.

    >>> parts(70, 32), parts(3, 32), parts(0, 5)
    ([(0, 23), (23, 46), (46, 70)], [(0, 3)], [])
    """
    n = -(-count // most)
    edges = [i * count // n for i in range(n + 1)] if n else [0]
    return list(pairwise(edges))


def snapped(spans: Sequence[Chunk], scenes: Sequence[Chunk], margin: int = 0) -> list[Chunk]:
    """Spans widened to the scenes they touch and `margin` scenes more on either side, joined
    where they meet; spans that touch no scene are left out.

    >>> snapped([(4, 11), (29, 29)], [(0, 5), (5, 10), (10, 20), (20, 30), (30, 40)])
    [(0, 20), (20, 30)]
    """
    out: list[tuple[int, int]] = []
    for start_s, end_s in sorted(spans):
        end_s = max(end_s, start_s + 0.001)
        touched = [i for i, (a, b) in enumerate(scenes) if a < end_s and start_s < b]
        if not touched:
            continue
        first = max(0, touched[0] - margin)
        last = min(len(scenes) - 1, touched[-1] + margin)
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], last))
        else:
            out.append((first, last))
    return [(scenes[a][0], scenes[b][1]) for a, b in out]
