"""The greedy choice of relevant, unlike pictures, against determinants computed in full."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from reeldb.query.strategies.diverse import EPS, JITTER, gain, greedy_dpp


def kernel(
    vectors: NDArray[np.float32], r: NDArray[np.float64], alpha: float
) -> NDArray[np.float64]:
    """L of RACER with jitter, in full."""
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    q = np.exp(gain(alpha) * r)
    return q[:, None] * (unit @ unit.T + JITTER * np.eye(len(r))) * q


def brute(vectors: NDArray[np.float32], r: NDArray[np.float64], n: int, alpha: float) -> list[int]:
    """Greedy by the log-determinant of each enlarged set, computed anew."""
    full = kernel(vectors, r, alpha)
    chosen: list[int] = []
    while len(chosen) < min(n, len(r)):
        now = np.linalg.slogdet(full[np.ix_(chosen, chosen)])[1] if chosen else 0.0
        gains = {}
        for i in set(range(len(r))) - set(chosen):
            grown = [*chosen, i]
            gains[i] = np.linalg.slogdet(full[np.ix_(grown, grown)])[1] - now
        new = {i: g for i, g in gains.items() if g - 2 * gain(alpha) * r[i] > np.log(EPS)}
        if not new:
            rest = sorted(gains, key=lambda i: (-r[i], i))
            return chosen + rest[: n - len(chosen)]
        chosen.append(min(i for i, g in new.items() if g >= max(new.values()) - 1e-9))
    return chosen


@given(
    st.integers(0, 10_000),
    st.integers(1, 14),
    st.integers(1, 6),
    st.integers(1, 16),
    st.sampled_from([0.0, 0.5, 0.75, 0.9]),
)
@settings(deadline=None, max_examples=80)
def test_it_is_the_greedy_that_recomputes_every_determinant(
    seed: int, count: int, dim: int, n: int, alpha: float
) -> None:
    dice = np.random.default_rng(seed)
    vectors = dice.standard_normal((count, dim)).astype(np.float32)
    r = dice.standard_normal(count)
    assert greedy_dpp(vectors, r, n, alpha=alpha).order.tolist() == brute(vectors, r, n, alpha)


def test_more_pictures_than_directions_fill_up_by_relevance() -> None:
    vectors = np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1, 2]]
    r = np.array([0.0, 0.1, 0.2, 0.3, -0.5, 0.9])
    found = greedy_dpp(vectors, r, 6)
    assert found.diverse == 3
    assert found.order.tolist() == [5, 3, 1, 2, 0, 4]
    assert greedy_dpp(vectors, r, 99).order.tolist() == found.order.tolist()


def test_equals_go_to_the_earliest_picture() -> None:
    vectors = np.random.default_rng(0).standard_normal((1, 512)).astype(np.float32)
    found = greedy_dpp(np.repeat(vectors, 1000, axis=0), np.zeros(1000), 4)
    assert (found.order.tolist(), found.diverse) == ([0, 1, 2, 3], 1)


def test_a_copy_of_a_chosen_picture_waits_until_nothing_new_is_left() -> None:
    vectors = np.eye(4, dtype=np.float32)[[0, 0, 1, 2]]
    assert greedy_dpp(vectors, np.array([30.0, 30.0, 0.0, -1.0]), 3).order.tolist() == [0, 2, 3]


def test_relevance_beyond_what_an_exponential_holds_does_no_harm() -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 8)).astype(np.float32)
    r = np.linspace(-4000, 4000, 50)
    assert greedy_dpp(vectors, r, 3).order.tolist() == [49, 48, 47]


def test_a_picture_without_direction_comes_last() -> None:
    vectors = np.array([[0, 0], [1, 0], [0, 1]], np.float32)
    assert greedy_dpp(vectors, np.array([9.0, 0.0, 0.0]), 3).order.tolist() == [1, 2, 0]


def test_alpha_trades_relevance_for_diversity() -> None:
    vectors = np.array([[1, 0], [0.95, np.sqrt(1 - 0.95**2)], [0, 1]], np.float32)
    r = np.array([1.0, 0.9, 0.0])
    assert greedy_dpp(vectors, r, 2, alpha=0.95).order.tolist() == [0, 1]
    assert greedy_dpp(vectors, r, 2, alpha=0.0).order.tolist() == [0, 2]
    with pytest.raises(ValueError, match="alpha 1"):
        gain(1.0)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.75])
def test_the_short_list_changes_nothing(alpha: float, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(5)
    scenes = np.repeat(dice.standard_normal((60, 32)), 20, axis=0)
    vectors = np.asarray(scenes + 0.1 * dice.standard_normal((1200, 32)), np.float32)
    r = np.repeat(dice.standard_normal(60), 20)
    whole = greedy_dpp(vectors, r, 40, alpha=alpha).order.tolist()
    monkeypatch.setattr("reeldb.query.strategies.diverse.SHORTLIST", 40)
    assert greedy_dpp(vectors, r, 40, alpha=alpha).order.tolist() == whole
    assert whole[:10] == brute(vectors, r, 10, alpha)


def test_no_picture_gives_none() -> None:
    assert len(greedy_dpp(np.zeros((0, 8), np.float32), np.zeros(0), 5).order) == 0


def test_a_long_video_needs_no_square_matrix() -> None:
    import tracemalloc

    vectors = np.random.default_rng(2).standard_normal((8400, 512)).astype(np.float32)
    tracemalloc.start()
    found = greedy_dpp(vectors, np.random.default_rng(3).standard_normal(8400), 32)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(set(found.order.tolist())) == found.diverse == 32
    assert peak < 8400 * 8400  # bytes: an eighth of such a matrix


def test_without_relevance_a_long_video_needs_no_square_matrix_either() -> None:
    import tracemalloc

    vectors = np.random.default_rng(2).standard_normal((8400, 64)).astype(np.float32)
    tracemalloc.start()
    found = greedy_dpp(vectors, np.zeros(8400), 32)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.order[0] == 0
    assert peak < 8400 * 8400
