"""ClipShots (Tang et al. 2018): transitions between shots, by picture number.

Written from `annotations/test.json` and `tools/evaluate.py` of Tangshitao/ClipShots at
8d033e25: `[a, b]` with b - a = 1 is a cut between two pictures, longer ones are gradual. Five
of the 7,209 published test transitions end where they begin, or before; the official script
counts them as neither, and so are they kept here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reeldb.evaluation.loaders.rows import Row, json_by_name
from reeldb.evaluation.metrics.shots import Truth
from reeldb.schema.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class Shots:
    """One video's transitions, (last picture before, first picture after), numbered from 0."""

    video: str
    pictures: int
    transitions: tuple[tuple[int, int], ...]

    @property
    def cuts(self) -> tuple[tuple[int, int], ...]:
        return tuple((a, b) for a, b in self.transitions if b - a == 1)

    @property
    def gradual(self) -> tuple[tuple[int, int], ...]:
        return tuple((a, b) for a, b in self.transitions if b - a > 1)

    def truth(self, path: Path, times_s: Sequence[float]) -> Truth:
        """For the measure of shots. `times_s` are the presentation times of the file's pictures,
        from its first; a number over a rate would be wrong where pictures are unevenly spaced.
        Raises EvaluationError where the file has fewer pictures than the transitions reach."""
        last = max((max(t) for t in self.transitions), default=0)
        if last >= len(times_s):
            raise EvaluationError(
                f"{path} has {len(times_s)} pictures; {self.video} has a transition at {last}"
            )
        either = tuple((times_s[a], times_s[b]) for a, b in self.gradual)
        return Truth(path, tuple(times_s[b] for _, b in self.cuts), either)


def read(file: Path) -> list[Shots]:
    """One entry a video, named as its file; raises EvaluationError for one of another form."""
    return [_shots(video, row) for video, row in json_by_name(file)]


def _shots(video: str, row: Row) -> Shots:
    spans = row.pairs("transitions")
    if any(a < 0 or b < 0 or a % 1 or b % 1 for a, b in spans):
        raise row.wrong("a transition is not two picture numbers")
    whole = tuple((int(a), int(b)) for a, b in spans)
    return Shots(video, int(row.number("frame_num")), whole)
