"""McNemar's exact test (1947): do two answerers of the same questions differ in accuracy?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from reeldb.schema.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class McNemar:
    """Questions that only the first, or only the second, answered rightly, and the two-sided p
    value of so uneven a split if both were equally good."""

    only_first: int
    only_second: int
    p: float


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """The exact (binomial) test; raises EvaluationError where the answers do not pair."""
    if len(first) != len(second):
        raise EvaluationError(
            f"McNemar's test needs pairs: {len(first)} answers beside {len(second)}"
        )
    pairs = list(zip(first, second, strict=True))
    only_first = sum(a and not b for a, b in pairs)
    only_second = sum(b and not a for a, b in pairs)
    return McNemar(only_first, only_second, _p(only_first, only_second))


def _p(b: int, c: int) -> float:
    """Twice the smaller tail of Binomial(b + c, 1/2), at most 1.

    >>> _p(0, 5), _p(3, 3)
    (0.0625, 1.0)
    """
    n, few = b + c, min(b, c)
    tail = sum(comb(n, k) for k in range(few + 1))
    return min(1.0, 2 * tail / (1 << n))  # whole numbers: exact for any n
