"""One relevance from a question's and its sub-queries' similarity to every picture.

RACER, section 3.2.3: sub-queries whose similarity is concentrated on few pictures count more.
The formulas are our choice: scores are standardised for each query, their softmax over a
temperature is a distribution over the T pictures, and its entropy over log T weighs the query.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
TEMPERATURE = 0.5  # at 1 a peak over thousands of pictures drowns; lower, noise looks peaked


def standardised(cosines: NDArray[np.floating]) -> Scores:
    """Each row of (queries, T) with mean 0 and deviation 1; a constant row is zeros."""
    scores = np.asarray(cosines, np.float64)
    scores = scores - scores.mean(axis=1, keepdims=True)
    spread = scores.std(axis=1, keepdims=True)
    return np.asarray(np.divide(scores, spread, out=np.zeros_like(scores), where=spread > 1e-9))


def entropies(scores: Scores, temperature: float = TEMPERATURE) -> Scores:
    """Entropy over log T, in 0..1, of each row's softmax over the temperature."""
    if scores.shape[1] < 2:
        return np.zeros(len(scores))
    sharp = scores / temperature
    sharp = sharp - sharp.max(axis=1, keepdims=True)
    share = np.exp(sharp)
    total = share.sum(axis=1, keepdims=True)
    mean = (share * sharp).sum(axis=1) / total[:, 0]
    return np.asarray((np.log(total[:, 0]) - mean) / np.log(scores.shape[1]))


def weights(entropy: Scores, beta: float = 2.2) -> Scores:
    """Weights that sum to 1, proportional to exp(-beta H)."""
    sharp = np.exp(-beta * (entropy - entropy.min(initial=np.inf)))
    return np.asarray(sharp / sharp.sum()) if len(sharp) else sharp


def fused(
    cosines: NDArray[np.floating],
    *,
    question_weight: float = 0.6,
    beta: float = 2.2,
    temperature: float = TEMPERATURE,
    by_entropy: bool = True,
) -> tuple[Scores, Scores]:
    """The relevance (T,) and the sub-queries' weights, from cosines (1 + sub-queries, T).

    Row 0 is the question; without sub-queries it is all the relevance. `by_entropy` False
    weighs sub-queries equally (RACER, ablation D.1).
    """
    scores = standardised(cosines)
    subs = scores[1:]
    if not len(subs):
        return scores[0], np.zeros(0)
    w = weights(entropies(subs, temperature), beta) if by_entropy else np.full(len(subs), 1.0)
    w = w / w.sum()
    return question_weight * scores[0] + (1 - question_weight) * (w @ subs), w
