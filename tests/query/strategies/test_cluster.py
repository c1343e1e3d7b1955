"""Clusters of picture vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from reeldb.query.strategies.cluster import Linkage, hierarchical, kmeans, nearest

SMALL = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 12), st.integers(1, 3)),
    elements=st.integers(-4, 4).map(float),
)


def blobs(seed: int, count: int = 5, each: int = 40, dim: int = 16) -> tuple[Any, Any]:
    """Well separated heaps of points, and which heap each is of, numbered as they come."""
    dice = np.random.default_rng(seed)
    heap = dice.permutation(np.repeat(np.arange(count), each))
    _, first, number = np.unique(heap, return_index=True, return_inverse=True)
    truth = np.argsort(np.argsort(first))[number]
    middle = 10 * np.eye(count, dim)[heap]
    return (middle + dice.standard_normal((count * each, dim))).astype(np.float32), truth


@pytest.mark.parametrize("seed", range(5))
def test_kmeans_finds_heaps_that_lie_apart(seed: int) -> None:
    vectors, truth = blobs(seed)
    assert np.array_equal(kmeans(vectors, 5, seed=1), truth)


@pytest.mark.parametrize("linkage", ["ward", "average"])
def test_the_tree_finds_heaps_that_lie_apart(linkage: Linkage) -> None:
    vectors, truth = blobs(3)
    assert np.array_equal(hierarchical(vectors, 5, linkage), truth)


def test_the_same_seed_gives_the_same_clusters() -> None:
    vectors = np.random.default_rng(0).standard_normal((500, 32)).astype(np.float32)
    assert np.array_equal(kmeans(vectors, 16, seed=4), kmeans(vectors.copy(), 16, seed=4))


@given(SMALL, st.integers(1, 14), st.integers(0, 3))
@settings(deadline=None, max_examples=40)
def test_every_cluster_has_a_row_and_equal_rows_share_one(
    vectors: NDArray[np.float32], k: int, seed: int
) -> None:
    for labels in (kmeans(vectors, k, seed), hierarchical(vectors, k)):
        rows = np.unique(vectors, axis=0, return_inverse=True)[1].ravel()
        assert sorted(set(labels)) == list(range(min(k, rows.max() + 1)))
        assert len(set(zip(rows.tolist(), labels.tolist(), strict=True))) == rows.max() + 1
        first = [labels.tolist().index(c) for c in range(labels.max() + 1)]
        assert first == sorted(first)


@given(SMALL, st.integers(1, 6))
@settings(deadline=None, max_examples=40)
def test_kmeans_ends_where_no_row_is_nearer_to_another_centre(
    vectors: NDArray[np.float32], k: int
) -> None:
    labels = kmeans(vectors, k, seed=0)
    points = vectors.astype(np.float64)
    centres = np.stack([points[labels == c].mean(axis=0) for c in range(labels.max() + 1)])
    far = ((points[:, None] - centres) ** 2).sum(axis=2)
    assert np.all(far[np.arange(len(far)), labels] <= far.min(axis=1) + 1e-4)


@given(SMALL, st.integers(1, 12), st.sampled_from(["ward", "average"]))
@settings(deadline=None, max_examples=40)
def test_each_cut_of_the_tree_joins_two_clusters_of_the_next(
    vectors: NDArray[np.float32], k: int, linkage: Linkage
) -> None:
    fine, coarse = hierarchical(vectors, k + 1, linkage), hierarchical(vectors, k, linkage)
    pairs = set(zip(fine.tolist(), coarse.tolist(), strict=True))
    assert len(pairs) == fine.max() + 1  # a fine cluster lies in one coarse one


@pytest.mark.parametrize("linkage", ["ward", "average"])
@pytest.mark.parametrize("seed", range(8))
def test_the_tree_merges_what_a_search_over_all_pairs_merges(linkage: Linkage, seed: int) -> None:
    points = np.random.default_rng(seed).standard_normal((14, 3)).astype(np.float32)
    groups = [[i] for i in range(len(points))]
    while len(groups) > 1:
        found = hierarchical(points, len(groups), linkage)
        assert {tuple(np.flatnonzero(found == c)) for c in set(found)} == {
            tuple(sorted(g)) for g in groups
        }
        _, a, b = min(
            (apart(points, groups[a], groups[b], linkage), a, b)
            for a in range(len(groups))
            for b in range(a)
        )
        groups[b] += groups.pop(a)


def apart(points: NDArray[np.float32], a: list[int], b: list[int], linkage: Linkage) -> float:
    """The distance of two clusters by definition."""
    x, y = points[a].astype(np.float64), points[b].astype(np.float64)
    if linkage == "average":
        return float(np.linalg.norm(x[:, None] - y, axis=2).mean())
    gap = ((x.mean(axis=0) - y.mean(axis=0)) ** 2).sum()
    return float(gap * len(a) * len(b) / (len(a) + len(b)))


def test_the_keyframe_is_the_member_nearest_the_centre_and_the_earliest_of_equals() -> None:
    vectors = np.array([[0], [1], [2], [10], [12], [100]], np.float32)
    labels = np.array([0, 0, 0, 1, 1, 2])
    assert nearest(vectors, labels).tolist() == [1, 3, 5]
    assert nearest(np.zeros((0, 4), np.float32), np.zeros(0, np.int64)).tolist() == []


def test_a_vector_that_is_not_finite_is_refused() -> None:
    vectors = np.array([[0.0], [np.nan]], np.float32)
    with pytest.raises(ValueError, match="not finite"):
        kmeans(vectors, 2)
    with pytest.raises(ValueError, match="0 clusters"):
        hierarchical(np.zeros((2, 1), np.float32), 0)


def test_no_picture_gives_no_cluster() -> None:
    nothing = np.zeros((0, 8), np.float32)
    assert kmeans(nothing, 4).shape == hierarchical(nothing, 4).shape == (0,)
