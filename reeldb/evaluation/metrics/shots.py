"""Shot boundaries found against those that are there: precision, recall, F1 with a tolerance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Truth:
    """One video's cuts, in seconds from its first picture.

    In each span of `either` (a dissolve) one cut is neither right nor wrong.
    """

    path: Path
    cuts: tuple[float, ...]
    either: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """Cuts that were right, that were false, and that were missed. Scores can be added."""

    right: int = 0
    false: int = 0
    missed: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(self.right + other.right, self.false + other.false, self.missed + other.missed)

    @property
    def precision(self) -> float:
        """The share of the found cuts that are right; 1 where none was found."""
        found = self.right + self.false
        return self.right / found if found else 1.0

    @property
    def recall(self) -> float:
        """The share of the true cuts that were found; 1 where there is none."""
        true = self.right + self.missed
        return self.right / true if true else 1.0

    @property
    def f1(self) -> float:
        total = 2 * self.right + self.false + self.missed
        return 2 * self.right / total if total else 1.0


def score(found: Sequence[float], truth: Truth, tolerance_s: float) -> Score:
    """Pairs cuts one to one, in order, at most `tolerance_s` apart: as many pairs as possible."""
    extra, right, rest = [], 0, sorted(truth.cuts)
    for cut in sorted(found):
        while rest and rest[0] < cut - tolerance_s:
            rest.pop(0)
        if rest and rest[0] <= cut + tolerance_s:
            rest.pop(0)
            right += 1
        else:
            extra.append(cut)
    for start_s, end_s in truth.either:
        inside = [cut for cut in extra if start_s <= cut <= end_s]
        extra = [cut for cut in extra if cut not in inside[:1]]
    return Score(right, len(extra), len(truth.cuts) - right)


def total(
    found: Mapping[Path, Sequence[float]], truths: Iterable[Truth], tolerance_s: float
) -> Score:
    """The sum over several videos; one that was not read has found nothing."""
    scores = (score(found.get(t.path, ()), t, tolerance_s) for t in truths)
    return sum(scores, Score())
