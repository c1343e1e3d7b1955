"""Nearest pictures: cosines of one query with the vectors of a space, and the best of them.

Exact by default, as one numpy product over the mapped matrix (`matrix`); approximate with
an inverted file (`ivf`) where one was built and the caller asks for it. A row without a
vector has the score NaN and never comes up. Ties go by key order, as everywhere. Safe to
use from several threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reeldb.index import ivf
from reeldb.index.matrix import Floats, Matrix, load
from reeldb.index.spaces import space_table
from reeldb.schema.errors import ArchiveError, BindError, near

if TYPE_CHECKING:
    from reeldb.index.snapshot import Snapshot

Ints = NDArray[np.int64]
ANN_ROWS = 2_000_000  # above this many vectors an exact search takes a second: prefer `ann`
FEW = 0.05  # below this share of rows, gathering them beats the whole product
TIMES = {"frames": "t_s", "scenes": "key_s", "embeddings": "t_s"}


class VectorSearch:
    """The vectors of one space at one snapshot.

    Raises BindError where the archive has no vectors of that space.
    """

    def __init__(self, snapshot: Snapshot, space: str) -> None:
        spaces = snapshot.spaces()
        if space not in spaces:
            cure = near(space, spaces) if spaces else "there are none yet"
            raise BindError(f"no vectors of {space!r} in the archive: {cure}")
        self.snapshot = snapshot
        self.space = space
        self.dim = spaces[space]
        self._table = space_table(space)
        self._key = (snapshot.versions["videos"], snapshot.versions[self._table])

    @property
    def matrix(self) -> Matrix:
        """The live vectors, in stored order."""
        return self.snapshot.archive.remember(
            f"matrix {self._table}", self._key, lambda: load(self.snapshot, self._table, self.dim)
        )

    # -- scores

    def scores(self, q: ArrayLike) -> Floats:
        """The cosine of every row of the matrix with `q`, shape (n,)."""
        return np.asarray(self.matrix.vectors @ self.unit(q), np.float32)

    def scores_for(self, relation: str, q: ArrayLike, rows: Ints | None = None) -> Floats:
        """The cosines of a relation's rows, or of the row numbers given; NaN for no vector."""
        at = self.rows_for(relation)
        at = at if rows is None else at[rows]
        vectors, unit = self.matrix.vectors, self.unit(q)
        there = at >= 0
        out = np.full(len(at), np.nan, np.float32)
        if len(at) > len(vectors) * FEW:
            out[there] = (vectors @ unit)[at[there]]
        elif there.any():
            out[there] = ivf.dot(_gathered(vectors, at[there]), unit)
        return out

    def rows_for(self, relation: str) -> Ints:
        """For each row of `frames`, `scenes` or `embeddings` its row in the matrix, -1 for none.

        A scene has the vector of its key picture.
        """
        if relation not in TIMES:
            raise BindError(f"{relation} has no pictures: {near(relation, TIMES)}")
        versions = self.snapshot.versions
        own = versions.get(relation, tuple(versions[t] for t in self.snapshot.embedding_tables()))
        return self.snapshot.archive.remember(
            f"rows {self._table} {relation}", (*self._key, own), lambda: self._aligned(relation)
        )

    # -- the best

    def top(
        self,
        q: ArrayLike,
        k: int,
        within: NDArray[np.bool_] | Ints | None = None,
        relation: str = "frames",
        ann: bool = False,
    ) -> tuple[Ints, Floats]:
        """Row numbers and scores of a relation's `k` best rows, best first, ties in key order.

        `within` is a mask over the relation's rows, or row numbers in ascending order: it is
        applied before the search, so min(k, matches) rows come back. With `ann` and an index
        the answer may miss some of the best; without an index it is exact.
        """
        rows = None if within is None else _numbers(within)
        index = self.index() if ann else None
        if index is not None:
            found = self._near(index, self.unit(q), k, rows, relation)
            if found is not None:
                return found
        scores = self.scores_for(relation, q, rows)
        best = best_of(scores, k)
        return (best if rows is None else rows[best]), scores[best]

    def index(self) -> ivf.InvertedFile | None:
        """The index over exactly these vectors, or None. Never built here."""
        path, rows = self.matrix.path, len(self.matrix.t_s)
        if path is None or not ivf.files(path)[0].exists():
            return None
        return self.snapshot.archive.remember(
            f"ivf {self._table}", path.name, lambda: ivf.load(path, rows)
        )

    def build_index(self) -> None:
        """Make the index over these vectors. Raises ArchiveError where it cannot be written."""
        path = self.matrix.path
        if path is None:
            raise ArchiveError(
                f"{self.snapshot.archive.cache}: cannot write here, so no index can be built"
            )
        if self.index() is None and len(self.matrix.t_s):
            ivf.build(path, self.matrix.vectors)

    # -- how

    def unit(self, q: ArrayLike) -> Floats:
        """The query at length 1. Raises BindError where it is of another width, or no numbers."""
        vector = np.asarray(q, np.float32).reshape(-1)
        if len(vector) != self.dim:
            raise BindError(
                f"the query has {len(vector)} numbers, the vectors of {self.space!r} have "
                f"{self.dim}; use the embedder that made them, or `reel reindex`"
            )
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or length == 0.0:
            raise BindError("the query's vector is zero, NaN or infinite: the embedder failed")
        return np.asarray(vector / length, np.float32)

    def _near(
        self, index: ivf.InvertedFile, unit: Floats, k: int, rows: Ints | None, relation: str
    ) -> tuple[Ints, Floats] | None:
        """The best by the index; None where it cannot give `k` rows and the exact way must."""
        total = len(self.rows_for(relation))
        if rows is not None and len(rows) <= total * FEW:
            return None
        place = self._inverse(relation)
        if rows is not None:
            mask = np.zeros(total + 1, np.bool_)  # its last place stands for -1
            mask[rows] = True
            place = np.where(mask[place], place, -1)
        found, scores = index.near(unit, k, place)
        if len(found) < k:
            return None
        order = np.argsort(found)
        found, scores = found[order], scores[order]
        best = best_of(scores, k)
        return found[best], scores[best]

    def _inverse(self, relation: str) -> Ints:
        """For each row of the matrix its row in the relation, -1 for none."""

        def make() -> Ints:
            at = self.rows_for(relation)
            out = np.full(len(self.matrix.t_s), -1, np.int64)
            there = np.flatnonzero(at >= 0)
            out[at[there]] = there
            return out

        own = self.snapshot.versions.get(relation)
        return self.snapshot.archive.remember(
            f"inverse {self._table} {relation}", (*self._key, own), make
        )

    def _aligned(self, relation: str) -> Ints:
        built, matrix = self.snapshot.assembled(relation), self.matrix
        t_s = np.asarray(built.table[TIMES[relation]].to_numpy(), np.float64)
        at = _matched(built.rank, t_s, matrix.rank, matrix.t_s)
        if relation == "embeddings":  # rows of other spaces have no place in this matrix
            mine = self.snapshot.embedding_tables().index(self._table)
            at = np.where(built.part == mine, at, -1)
        return at


def _matched(
    rank: Ints, t_s: NDArray[np.float64], known_rank: Ints, known_t_s: NDArray[np.float64]
) -> Ints:
    """Where each (rank, time) is among the known ones, -1 where it is not; times are exact."""
    if not len(known_rank):
        return np.full(len(rank), -1, np.int64)
    times, number = np.unique(np.concatenate([known_t_s, t_s]), return_inverse=True)
    known = known_rank * len(times) + number[: len(known_rank)]
    wanted = rank * len(times) + number[len(known_rank) :]
    order = np.argsort(known, kind="stable")
    place = np.minimum(np.searchsorted(known[order], wanted), len(known) - 1)
    at = order[place]
    return np.where(known[at] == wanted, at, -1)


def _numbers(within: NDArray[np.bool_] | Ints) -> Ints:
    """Row numbers, of a mask or as they are."""
    if within.dtype == np.bool_:
        return np.flatnonzero(within)
    return np.asarray(within, np.int64)


def _gathered(vectors: Floats, at: Ints) -> Floats:
    """Those rows of the matrix; without a copy where they are one stretch of it."""
    first, last = int(at[0]), int(at[-1])
    if last - first + 1 == len(at) and np.array_equal(at, np.arange(first, last + 1)):
        return vectors[first : last + 1]
    return np.asarray(vectors[at])


def best_of(scores: Floats, k: int) -> Ints:
    """Places of the `k` greatest scores, greatest first, ties by place; NaN never.

    >>> best_of(np.array([0.5, np.nan, 0.9, 0.5], np.float32), 2).tolist()
    [2, 0]
    """
    if k <= 0 or not len(scores):
        return np.zeros(0, np.int64)
    filled = np.where(np.isnan(scores), -np.inf, scores)
    if k < len(filled):
        least = filled[np.argpartition(filled, len(filled) - k)[len(filled) - k :]].min()
        places = np.flatnonzero(filled >= least)
    else:
        places = np.arange(len(filled))
    places = places[filled[places] > -np.inf]
    return places[np.argsort(-filled[places], kind="stable")][:k]
