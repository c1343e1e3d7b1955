"""Bootstrap percentile intervals of a mean (Efron 1979), over questions or over whole videos."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reeldb.schema.errors import EvaluationError

RESAMPLES = 10_000
SEED = 0
_AT_ONCE = 2_000_000  # drawn indices in memory at a time


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the ends of its interval."""

    mean: float
    low: float
    high: float


def interval(
    values: Sequence[float],
    groups: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """The mean of the values, and the percentile interval of the means of resamples.

    `groups` (the video of each question) draws whole groups instead: questions about one video
    are no independent trials, and an interval that takes them so is too narrow. Without groups
    the draws are those of `scipy.stats.bootstrap(method="percentile")` of the same seed.
    Raises EvaluationError without values.
    """
    if not len(values) or (groups is not None and len(groups) != len(values)):
        raise EvaluationError(
            f"an interval of {len(values)} values in {len(values if groups is None else groups)} "
            "groups; give at least one value, and one group a value"
        )
    sums, sizes = _summed(np.asarray(values, np.float64), groups)
    dice = np.random.default_rng(seed)
    means = np.empty(resamples)
    step = max(1, _AT_ONCE // len(sums))
    for at in range(0, resamples, step):
        drawn = dice.integers(0, len(sums), (min(step, resamples - at), len(sums)))
        means[at : at + step] = sums[drawn].sum(1) / sizes[drawn].sum(1)
    low, high = np.percentile(means, [50 * (1 - level), 50 * (1 + level)])
    return Interval(float(np.mean(values)), float(low), float(high))


def _summed(
    values: NDArray[np.float64], groups: Sequence[Hashable] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sum and the number of values of each group, groups in order of appearance."""
    if groups is None:
        return values, np.ones(len(values))
    number = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    of = np.array([number[g] for g in groups])
    return np.bincount(of, weights=values).astype(np.float64), np.bincount(of).astype(np.float64)
