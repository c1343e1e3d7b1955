"""One relevance from many queries: sharper signals count more."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from reeldb.query.strategies.fusion import entropies, fused, standardised, weights


def signals(pictures: int, peaks: int = 8) -> NDArray[np.float64]:
    """Cosines as of CLIP: one query met by a few pictures, one by none, one by all alike."""
    dice = np.random.default_rng(0)
    cosines = 0.2 + 0.02 * dice.standard_normal((3, pictures))
    cosines[0, :peaks] += 0.1
    cosines[2] = dice.uniform(0.19, 0.21, pictures)
    return cosines


@pytest.mark.parametrize("pictures", [600, 2400, 8400])
def test_a_peak_has_clearly_less_entropy_than_noise_or_a_plain(pictures: int) -> None:
    peak, noise, plain = entropies(standardised(signals(pictures)))
    assert peak < noise - 0.2
    assert noise < plain <= 1


@pytest.mark.parametrize("pictures", [600, 2400, 8400])
def test_a_peaked_sub_query_gets_clearly_more_weight(pictures: int) -> None:
    cosines = signals(pictures)
    peak, noise, plain = weights(entropies(standardised(cosines)))
    assert peak > 1.4 * max(noise, plain)
    _, w = fused(cosines[[1, 0, 1, 2]])
    assert np.allclose(w, [peak, noise, plain])


def test_scores_between_0_and_1_at_temperature_1_would_tell_nothing_apart() -> None:
    cosines = signals(8400)
    low, high = cosines.min(axis=1, keepdims=True), cosines.max(axis=1, keepdims=True)
    blunt = entropies((cosines - low) / (high - low), temperature=1.0)
    assert np.ptp(blunt) < 0.01


def test_entropy_is_1_where_all_is_alike_and_0_where_one_picture_is_all() -> None:
    one = np.zeros((1, 100))
    one[0, 3] = 1e6
    assert entropies(one)[0] == pytest.approx(0, abs=1e-9)
    assert entropies(standardised(np.full((1, 100), 0.3)))[0] == pytest.approx(1)


def test_the_relevance_is_the_question_s_and_the_weighted_sub_queries() -> None:
    cosines = np.random.default_rng(1).standard_normal((4, 50))
    scores = standardised(cosines)
    r, w = fused(cosines, question_weight=0.6)
    assert w.sum() == pytest.approx(1)
    assert np.allclose(
        r, 0.6 * scores[0] + 0.4 * sum(a * s for a, s in zip(w, scores[1:], strict=True))
    )
    assert np.allclose(fused(cosines, by_entropy=False)[1], 1 / 3)


def test_without_sub_queries_the_question_is_all() -> None:
    cosines = np.array([[0.1, 0.3, 0.2]])
    assert np.allclose(fused(cosines)[0], standardised(cosines)[0])


def test_a_constant_signal_says_nothing_and_breaks_nothing() -> None:
    r, w = fused(np.array([[0.1, 0.3], [0.2, 0.2], [0.4, 0.1]]))
    assert np.all(np.isfinite(r)) and np.all(np.isfinite(w))
    assert standardised(np.full((1, 1), 0.5)).tolist() == [[0.0]]
