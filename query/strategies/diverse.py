"""Pictures that are relevant and unlike one another: greedy MAP of a determinantal point process.

RACER, section 3.2.3, samples pictures by a DPP over relevance and visual diversity; the kernel
here is L = diag(q) (S + jitter I) diag(q) with q = exp(g r), S the cosines of the pictures and
g = alpha / (2 (1 - alpha)). The greedy choice is that of Chen, Zhang and Zhou (2018), "Fast
greedy MAP inference for determinantal point process", Algorithm 1: one row of the Cholesky
factor a step, so O(T N^2 + T N d) in time and no T x T matrix.

The quality q leaves the factor: det L_Y = det (S + jitter I)_Y * prod q_i^2, so a picture's gain
in log-determinant is 2 g r_i + log of its residual in S. No relevance can overflow it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

JITTER = 1e-6  # on the diagonal of S: equal pictures keep a positive determinant
EPS = 1e-5  # a residual this small is rounding and jitter: the picture shows nothing new
TIE = 1e-9  # gains this near are equal, and the earlier picture wins

SHORTLIST = 1024  # pictures tried first

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Pictures in the order of choice. The first `diverse` were chosen by the determinant; the
    others fill up by relevance because nothing new was left."""

    order: NDArray[np.int64]
    diverse: int


def gain(alpha: float) -> float:
    """How much relevance counts against diversity, from RACER's alpha in [0, 1)."""
    if not 0 <= alpha < 1:
        raise ValueError(f"alpha {alpha} is not in [0, 1)")
    return alpha / (2 * (1 - alpha))


def greedy_dpp(
    vectors: NDArray[np.float32],
    relevance: Scores,
    n: int,
    *,
    alpha: float = 0.75,
    jitter: float = JITTER,
    eps: float = EPS,
) -> Chosen:
    """At most n of T pictures, from vectors (T, d) in time order and their relevance (T,).

    Ties go to the lowest index. Where fewer than n pictures differ from the chosen ones by more
    than `eps`, the most relevant of the rest follow.

    A gain only falls while pictures are chosen, so the most relevant pictures suffice as long
    as every choice gains more than a picture outside them ever could; else more are taken.
    """
    relevance = np.asarray(relevance, np.float64)
    quality = 2 * gain(alpha) * relevance
    total = len(quality)
    n = min(n, total)
    ranked = np.argsort(-quality, kind="stable")
    some = min(total, max(SHORTLIST, 8 * n))
    while True:
        among = np.sort(ranked[:some])
        outside = quality[ranked[some]] + jitter + TIE if some < total else -np.inf
        order = _greedy(_unit(vectors[among]), quality[among], n, outside, jitter, eps)
        if order is not None:
            break
        some = min(total, 4 * some)
    chosen = among[order]
    rest = np.setdiff1d(np.arange(total), chosen)
    rest = rest[np.argsort(-relevance[rest], kind="stable")][: n - len(chosen)]
    return Chosen(np.concatenate([chosen, rest]).astype(np.int64), len(chosen))


def _greedy(
    unit: Scores, quality: Scores, n: int, outside: float, jitter: float, eps: float
) -> list[int] | None:
    """The choice among these pictures, or None as soon as one gains no more than `outside`."""
    left = np.einsum("td,td->t", unit, unit) + jitter  # residuals: what is new in each picture
    rows = np.empty((n, len(unit)))  # of the Cholesky factor, one a chosen picture
    free = np.ones(len(unit), bool)
    order: list[int] = []
    while len(order) < n:
        possible = free & (left > eps)
        gains = np.full(len(unit), -np.inf)
        np.log(left, where=possible, out=gains)
        gains += quality
        if not possible.any() or gains.max() <= outside:
            return order if outside == -np.inf else None
        best = int(np.argmax(gains >= gains.max() - TIE))
        done = rows[: len(order)]
        row = (unit @ unit[best] - done[:, best] @ done) / np.sqrt(left[best])
        rows[len(order)] = row
        left = left - row**2
        free[best] = False
        order.append(best)
    return order


def _unit(vectors: NDArray[np.float32]) -> Scores:
    """Vectors of length 1, exact enough for residuals; a vector of zeros stays."""
    points = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(points / np.where(lengths > 0, lengths, 1))
