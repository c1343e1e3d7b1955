"""The grid: the sampled pictures in the scope of a question, in (video, time) order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from reeldb.query.catalog import Catalog

Ints = NDArray[np.int64]
CLOSE_MS = 1e-6  # of floating point, where a span's edge is meant to be a whole millisecond


@dataclass(frozen=True, slots=True)
class Picture:
    """A grid picture, with the scene it lies in.

    `rank` numbers its video in the catalog, `row` the picture in the relation `frames`.
    """

    video: str
    video_id: str
    t_s: float
    scene_start_s: float
    scene_end_s: float
    rank: int
    row: int
    relevance: float | None = None

    @property
    def t_ms(self) -> int:
        return round(self.t_s * 1000)


class Grid(Sequence[Picture]):
    """Pictures in (video, time) order. Slices are grids; `t_s` and `rank` have one element a
    picture. Pictures are built when they are asked for, so a grid of millions is cheap."""

    def __init__(self, catalog: Catalog, rows: Ints) -> None:
        self.catalog, self.rows = catalog, rows
        self.rank: Ints = catalog.snapshot.ranks("frames")[rows]
        self.t_s: NDArray[np.float64] = catalog.frames["t_s"].to_numpy()[rows]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> Picture: ...
    @overload
    def __getitem__(self, at: slice) -> Grid: ...
    def __getitem__(self, at: int | slice) -> Picture | Grid:
        if isinstance(at, slice):
            return Grid(self.catalog, self.rows[at])
        row, rank = int(self.rows[at]), int(self.rank[at])
        video = self.catalog.video(rank)
        start_s, end_s = _scene(self.catalog, rank, row)
        t_s = float(self.t_s[at])
        return Picture(video.name, video.video_id, t_s, start_s, end_s, rank, row)

    def __iter__(self) -> Iterator[Picture]:
        return (self[i] for i in range(len(self)))

    def take(self, places: Iterable[int]) -> Grid:
        """The pictures at these places, in this order."""
        return Grid(self.catalog, self.rows[np.asarray(list(places), np.int64)])

    def of_videos(self, ranks: Iterable[int]) -> Grid:
        """The pictures of these videos, in their order."""
        return Grid(self.catalog, self.rows[np.isin(self.rank, list(ranks))])

    def stride(self, fps: float | None) -> Grid:
        """Every so many pictures that about `fps` a second are left; None leaves all.

        The stored grid is not sampled again: 0.125 of a grid of one a second is every 8th.
        """
        parts = [self[a:b] for a, b in self.videos()]
        steps = [max(1, round(1 / (fps * p.step_s))) if fps else 1 for p in parts]
        kept = [p.rows[::s] for p, s in zip(parts, steps, strict=True)]
        return Grid(self.catalog, np.concatenate(kept) if kept else self.rows)

    @property
    def step_s(self) -> float:
        """Seconds from picture to picture, as they mostly are."""
        return float(np.median(np.diff(self.t_s))) if len(self) > 1 else 1.0

    def videos(self) -> list[tuple[int, int]]:
        """Where each video's pictures lie: `[first, last)`, in order."""
        edges = np.flatnonzero(np.diff(self.rank)) + 1
        cuts = [0, *edges.tolist(), len(self)] if len(self) else []
        return list(pairwise(cuts))

    def scenes(self) -> int:
        """How many scenes the pictures lie in."""
        numbers = self.catalog.frames["scene_no"].to_numpy()[self.rows]
        return len(np.unique(self.rank * (1 << 32) + numbers))

    def spread(self, n: int) -> Grid:
        """At most n pictures, evenly spread, in order."""
        return self.take(spread(len(self), n))


def spread(count: int, n: int) -> list[int]:
    """At most n of `count` places, each the middle of an equal part.

    >>> spread(8, 4), spread(8, 1), spread(2, 5)
    ([1, 3, 5, 7], [4], [0, 1])
    """
    n = min(n, count)
    return [(2 * i + 1) * count // (2 * n) for i in range(n)]


def grid_of(catalog: Catalog, spans: Iterable[tuple[str, float, float]]) -> Grid:
    """The grid pictures in these spans (video id, start, end); each once, however spans overlap."""
    grid = catalog.grid
    ranks = {v: r for r, v in enumerate(catalog.snapshot.videos["video_id"].to_pylist())}
    known = [
        (ranks[v], a, b) for v, a, b in spans if v in ranks and a is not None and b is not None
    ]
    place = grid.rank * (1 << 40) + grid.ms
    first = np.searchsorted(place, [_at(r, a) for r, a, _ in known])
    last = np.searchsorted(place, [_at(r, b) for r, _, b in known])
    depth = np.zeros(len(place) + 1, np.int64)
    np.add.at(depth, first, 1)
    np.add.at(depth, np.maximum(first, last), -1)
    return Grid(catalog, grid.frame_row[np.cumsum(depth[:-1]) > 0])


def _at(rank: int, t_s: float) -> int:
    ms = int(np.clip(np.ceil(t_s * 1000 - CLOSE_MS), 0, 1 << 39))
    return rank * (1 << 40) + ms


def _scene(catalog: Catalog, rank: int, row: int) -> tuple[float, float]:
    """The span of the scene that a picture lies in; the picture's own moment where none is."""
    number = catalog.frames["scene_no"][row].as_py()
    at = catalog.kept("scene rows", ["videos", "scenes"], None, lambda: _scene_rows(catalog))
    found = at.get((rank, number))
    if found is None:
        t_s = float(catalog.frames["t_s"][row].as_py())
        return t_s, t_s + 0.001
    return catalog.span("scenes", found)


def _scene_rows(catalog: Catalog) -> dict[tuple[int, int], int]:
    ranks, numbers = catalog.snapshot.ranks("scenes"), catalog.scenes["scene_no"].to_numpy()
    pairs = zip(ranks.tolist(), numbers.tolist(), strict=True)
    return {pair: row for row, pair in enumerate(pairs)}
