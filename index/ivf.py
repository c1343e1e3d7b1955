"""An inverted file: an approximate index for spaces of millions of vectors.

Vectors are grouped around centroids (k-means, Lloyd 1982) and stored group by group, in
float32; a search reads the groups nearest to the query only and scores their rows exactly
(Sivic and Zisserman 2003). It is built by `reel compact` or on request, never by a reader,
and is a cache: it serves the exact set of rows it was built from, and takes as much disk
as the matrix beside it.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from reeldb.schema.errors import ArchiveError

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
ROUNDS = 8
SAMPLE_PER_GROUP = 64
STEP_SHARE = 0.004  # of the groups are read in one step, nearest first, at least LEAST_GROUPS
LEAST_GROUPS = 4
PATIENCE = 3  # steps that change none of the best rows end a search
MOST_STEPS = 40
BATCH = 20_000


@dataclass(frozen=True)
class InvertedFile:
    """Group g holds rows `starts[g]:starts[g + 1]` of `vectors`; `order` gives their number
    in the matrix."""

    centroids: Floats
    starts: Ints
    order: Ints
    vectors: Floats

    def near(self, unit: Floats, k: int, place: Ints) -> tuple[Ints, Floats]:
        """About the `k` best rows and their exact scores, in no order.

        `place` maps matrix rows to the numbers to answer with, -1 for rows that do not count.
        Groups are read nearest first, until `PATIENCE` steps in a row have changed nothing.
        """
        step = max(LEAST_GROUPS, round(len(self.centroids) * STEP_SHARE))
        groups = np.argsort(-(self.centroids @ unit), kind="stable")[: step * MOST_STEPS]
        rows, scores, idle = np.zeros(0, np.int64), np.zeros(0, np.float32), 0
        for i in range(0, len(groups), step):
            new_rows, new_scores = self._read(groups[i : i + step], unit, place)
            least = scores.min() if len(scores) == k else -np.inf
            better = new_scores > least
            if len(scores) == k:
                idle = 0 if better.any() else idle + 1
            rows = np.concatenate([rows, new_rows[better]])
            scores = np.concatenate([scores, new_scores[better]])
            if len(scores) > k:
                best = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
                rows, scores = rows[best], scores[best]
            if idle == PATIENCE:
                break
        return rows, scores

    def _read(self, groups: Ints, unit: Floats, place: Ints) -> tuple[Ints, Floats]:
        """The rows of these groups that count, and their scores."""
        spans = [(int(self.starts[g]), int(self.starts[g + 1])) for g in np.sort(groups)]
        rows = place[np.concatenate([self.order[a:b] for a, b in spans])]
        scores = np.concatenate([dot(self.vectors[a:b], unit) for a, b in spans])
        counts = (rows >= 0) & ~np.isnan(scores)
        return rows[counts], scores[counts]


def dot(few: Floats, unit: Floats) -> Floats:
    """The product of a few thousand rows with a vector, on this thread alone: for so little
    work BLAS spends most of its time on waking and awaiting its other threads."""
    return np.asarray(np.einsum("ij,j->i", few, unit), np.float32)


def files(matrix: Path) -> tuple[Path, Path]:
    """Where the index of a matrix file lies: its arrangement, and its vectors."""
    return matrix.with_suffix(".ivf.npz"), matrix.with_suffix(".ivf.npy")


def load(matrix: Path, rows: int) -> InvertedFile | None:
    """The index of this matrix, or None where it was not built."""
    arrangement, vectors = files(matrix)
    try:
        with np.load(arrangement, allow_pickle=False) as data:
            centroids, starts, order = data["centroids"], data["starts"], data["order"]
        stored = np.load(vectors, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, KeyError):
        return None
    if len(order) != rows or stored.shape != (rows, centroids.shape[1]):
        return None
    return InvertedFile(centroids, starts, order, np.asarray(stored))


def build(path: Path, matrix: Floats, seed: int = 0) -> InvertedFile | None:
    """Make the index files of a matrix file. Raises ArchiveError where they cannot be written.

    The same matrix gives the same index. A million vectors of 512 numbers take about a
    minute on two cores.
    """
    groups = max(1, round(len(matrix) ** 0.5))
    centroids = _centroids(matrix, groups, np.random.default_rng(seed))
    group = _nearest(matrix, centroids)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(groups + 1))
    arrangement, vectors = files(path)
    stamp = f"{os.getpid()}.{time.monotonic_ns()}"
    drafts = [p.with_name(f".{p.name}.{stamp}") for p in (vectors, arrangement)]
    try:
        with drafts[0].open("wb") as f:
            shape = {"descr": "<f4", "fortran_order": False, "shape": matrix.shape}
            npy.write_array_header_1_0(f, shape)
            for i in range(0, len(order), BATCH):
                f.write(matrix[order[i : i + BATCH]].data)
        with drafts[1].open("wb") as f:
            np.savez(f, centroids=centroids, starts=starts, order=order)
        drafts[0].replace(vectors)
        drafts[1].replace(arrangement)
    except OSError as e:
        raise ArchiveError(f"{path.parent}: no index can be written here ({e.strerror})") from e
    finally:
        for draft in drafts:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
    return load(path, len(matrix))


def _centroids(matrix: Floats, groups: int, rng: np.random.Generator) -> Floats:
    """Unit centroids of a sample, by spherical k-means; an empty group takes a random row."""
    count = min(len(matrix), groups * SAMPLE_PER_GROUP)
    sample = matrix[np.sort(rng.choice(len(matrix), count, replace=False))]
    centroids = sample[rng.choice(count, groups, replace=False)].copy()
    for _ in range(ROUNDS):
        group = _nearest(sample, centroids)
        order = np.argsort(group, kind="stable")
        present, first = np.unique(group[order], return_index=True)
        centroids[present] = np.add.reduceat(sample[order], first, axis=0)
        empty = np.setdiff1d(np.arange(groups), present)
        centroids[empty] = sample[rng.choice(count, len(empty))]
        centroids /= np.maximum(np.linalg.norm(centroids, axis=1, keepdims=True), 1e-12)
    return centroids


def _nearest(matrix: Floats, centroids: Floats) -> Ints:
    """The group of every row: the centroid of the greatest cosine."""
    out = np.empty(len(matrix), np.int64)
    for i in range(0, len(matrix), BATCH):
        out[i : i + BATCH] = np.argmax(matrix[i : i + BATCH] @ centroids.T, axis=1)
    return out
