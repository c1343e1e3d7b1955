"""Clusters of picture vectors: k-means and an agglomerative tree, both deterministic.

Labels are numbered from 0 by the first row (so the earliest picture) of each cluster. Rows
that are equal always share a label, so fewer distinct rows than asked for give fewer clusters.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Points = NDArray[np.floating[Any]]
Labels = NDArray[np.int64]
Linkage = Literal["ward", "average"]
ROUNDS = 50  # of Lloyd's algorithm, at most; it ends where no label changes


def kmeans(vectors: Vectors, k: int, seed: int = 0) -> Labels:
    """Labels of shape (n,) for vectors of shape (n, d): Lloyd's algorithm from k-means++
    starts (Arthur and Vassilvitskii 2007). The same seed gives the same labels.

    A cluster that runs empty gets the row farthest from its own centre. Raises ValueError
    where k < 1 or a vector is not finite.
    """
    rows, number, weight = _distinct(vectors, k)
    k = min(k, len(rows))
    if k == 0:
        return number
    lengths = np.einsum("nd,nd->n", rows, rows)
    centres = rows[_spread(rows, lengths, weight, k, np.random.default_rng(seed))]
    labels = np.full(len(rows), -1, np.int64)
    for _ in range(ROUNDS):
        far = _squares(rows, centres, lengths)
        found = _repaired(far.argmin(axis=1), far, k)
        if np.array_equal(found, labels):
            break
        labels = found
        centres = _centres(rows, labels, k, weight)
    return _renumbered(labels[number])


def nearest(vectors: Vectors, labels: Labels) -> Labels:
    """The row nearest the centre of each cluster, by label; the earliest of equals."""
    if len(labels) == 0:
        return np.zeros(0, np.int64)
    points = np.asarray(vectors, np.float32)
    k = int(labels.max()) + 1
    off = points - _centres(points, labels, k)[labels]
    far = np.einsum("nd,nd->n", off, off)
    members = [np.flatnonzero(labels == label) for label in range(k)]
    return np.array([m[_first(-far[m])] for m in members], np.int64)


def hierarchical(vectors: Vectors, k: int, linkage: Linkage = "ward") -> Labels:
    """Labels of shape (n,): the agglomerative tree of the rows, cut into k clusters.

    Nearest-neighbour chain (Murtagh 1983), O(n^2) in time and memory: for some thousand rows.
    Ward or average linkage over Euclidean distances. Raises ValueError as `kmeans` does.
    """
    rows, number, weight = _distinct(vectors, k)
    exact = rows.astype(np.float64)
    merges = _chain(_squares(exact, exact), weight.astype(np.float64), linkage)
    merges.sort(key=lambda m: m[0])  # stable: a merge stays behind the ones it is made of
    parent = np.arange(len(rows))
    for _, a, b in merges[: max(0, len(rows) - k)]:
        parent[parent == parent[b]] = parent[a]
    return _renumbered(parent[number])


def _distinct(vectors: Vectors, k: int) -> tuple[Vectors, Labels, Vectors]:
    """The distinct rows in order of appearance, each row's number among them, their counts."""
    points = np.asarray(vectors, np.float32) + 0.0  # -0.0 becomes 0.0
    if k < 1:
        raise ValueError(f"{k} clusters: ask for 1 or more")
    if not np.isfinite(points).all():
        raise ValueError("a vector is not finite: leave pictures without a vector out")
    seen: dict[bytes, int] = {}
    number = np.array([seen.setdefault(p.tobytes(), len(seen)) for p in points], np.int64)
    first = np.unique(number, return_index=True)[1]
    counts = np.bincount(number, minlength=len(seen)).astype(np.float32)
    return points[first], number, counts


def _spread(
    rows: Vectors, lengths: Vectors, weight: Vectors, k: int, dice: np.random.Generator
) -> list[int]:
    """k different rows, each drawn with a chance that grows with its distance to the others."""
    start = weight.astype(np.float64)
    chosen = [int(dice.choice(len(rows), p=start / start.sum()))]
    far = _squares(rows, rows[chosen], lengths)[:, 0]
    while len(chosen) < k:
        far[chosen] = 0.0
        chance = far.astype(np.float64) * weight
        if chance.sum() > 0:
            row = int(dice.choice(len(rows), p=chance / chance.sum()))
        else:  # all that is left differs by less than the arithmetic can tell
            row = int(np.setdiff1d(np.arange(len(rows)), chosen)[0])
        chosen.append(row)
        far = np.minimum(far, _squares(rows, rows[[row]], lengths)[:, 0])
    return chosen


def _repaired(labels: Labels, far: Points, k: int) -> Labels:
    """Labels in which every cluster has a row."""
    sizes = np.bincount(labels, minlength=k)
    for empty in np.flatnonzero(sizes == 0):
        own = far[np.arange(len(labels)), labels]
        row = int(np.where(sizes[labels] > 1, own, -1.0).argmax())
        sizes[labels[row]] -= 1
        labels[row], sizes[empty] = empty, 1
        far[row, empty] = 0.0
    return labels


def _centres(rows: Points, labels: Labels, k: int, weight: Points | None = None) -> Vectors:
    """The (weighted) mean of each cluster's rows, of shape (k, d)."""
    share = np.zeros((k, len(rows)), np.float32)
    share[labels, np.arange(len(rows))] = 1.0 if weight is None else weight
    return np.asarray(share @ rows / share.sum(axis=1, keepdims=True), np.float32)


def _squares(a: Points, b: Points, lengths: Points | None = None) -> Points:
    """Squared Euclidean distances of shape (len(a), len(b)); `lengths` are the squares of a."""
    if lengths is None:
        lengths = np.einsum("nd,nd->n", a, a)
    sums = lengths[:, None] + np.einsum("nd,nd->n", b, b)
    return np.asarray(np.maximum(sums - 2 * (a @ b.T), 0.0))


def _chain(far: Points, weight: Points, linkage: Linkage) -> list[tuple[float, int, int]]:
    """The merges (height, row, row) of the tree; a merged cluster goes by the first row."""
    size, alive = weight.copy(), np.ones(len(far), bool)
    height = np.zeros(len(far))
    if linkage == "average":
        far = np.sqrt(far)
    np.fill_diagonal(far, np.inf)
    merges: list[tuple[float, int, int]] = []
    chain: list[int] = []
    while len(merges) < len(far) - 1:
        if not chain:
            chain.append(int(alive.argmax()))
        top = chain[-1]
        near = int(far[top].argmin())
        if len(chain) > 1 and far[top, chain[-2]] <= far[top, near]:
            near = chain[-2]  # of equals the one we came from, or the chain would not end
        if len(chain) < 2 or near != chain[-2]:
            chain.append(near)
            continue
        del chain[-2:]
        a, b = min(top, near), max(top, near)
        # A merge is never lower than the ones it is made of, whatever the rounding.
        height[a] = max(far[a, b], height[a], height[b])
        merges.append((float(height[a]), a, b))
        joined = _joined(far, size, a, b, linkage)
        far[a], far[:, a] = joined, joined
        far[b], far[:, b] = np.inf, np.inf
        far[a, a] = np.inf
        size[a], alive[b] = size[a] + size[b], False
    return merges


def _joined(far: Points, size: Points, a: int, b: int, linkage: Linkage) -> Points:
    """Distances of the union of a and b to all clusters (Lance and Williams 1967)."""
    with np.errstate(invalid="ignore"):
        if linkage == "average":
            joined = (size[a] * far[a] + size[b] * far[b]) / (size[a] + size[b])
        else:
            to_a, to_b = (size[a] + size) * far[a], (size[b] + size) * far[b]
            joined = (to_a + to_b - size * far[a, b]) / (size[a] + size[b] + size)
    return np.where(np.isnan(joined), np.inf, joined)


def _renumbered(labels: Labels) -> Labels:
    """The same clusters, numbered by their first rows."""
    _, first, number = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[number], np.int64)


def _first(scores: Points) -> int:
    """The first of the highest scores, where rounding does not count as a difference."""
    return int(np.argmax(scores >= scores.max() - 1e-6))
