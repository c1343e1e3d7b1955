"""Ranks: which of several conditions is filled first.

A condition that costs c seconds a row and lets the share s of rows through has the rank
c / (1 - s): taken in ascending order of ranks, all of them together cost least (Hellerstein and
Stonebraker, "Predicate migration", SIGMOD 1993). Seconds are the archive's own measured ones,
else a rough prior; the share is that of the rows looked at so far, those known from earlier
statements among them, so the order follows what is seen while a statement runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from reeldb.query.cost import calls_of_read
from reeldb.query.measured import Measured
from reeldb.query.plan import Fill, Plan, Read

if TYPE_CHECKING:
    from reeldb.query.fill import Fills

PASSING = 0.5  # of a condition that no row has been asked about
LEAST_DROPPED = 0.01
ROWS = 0.7  # seconds; of a look that was never measured


class Ranks:
    """The ranks of one statement's reads."""

    def __init__(
        self,
        plan: Plan,
        fills: Fills,
        measured: Measured,
        query: Callable[[str], pa.Table],
    ) -> None:
        self.plan, self.fills, self.measured, self.query = plan, fills, measured, query
        self._seconds: dict[tuple[int, str], float] = {}
        self._passing: dict[str, tuple[int, float]] = {}  # by query: rows known then, the share

    def rivals(self, fill: Fill) -> list[int]:
        """The reads of a WHERE whose values models make."""
        if fill.top is None and not any(r.passing for r in fill.reads):
            return []
        return [i for i, r in enumerate(fill.reads) if calls_of_read(self.plan, r)]

    def order(self, fill: Fill, reads: Sequence[int]) -> list[int]:
        """These reads, the one to fill first first; equal ones as they are."""
        if len(reads) < 2:
            return list(reads)
        return sorted(reads, key=lambda i: self.rank(fill.reads[i]))

    def rank(self, read: Read) -> float:
        return self.seconds(read) / max(LEAST_DROPPED, 1 - self.passing(read))

    def seconds(self, read: Read) -> float:
        """What a value takes."""
        at = (read.unit, read.relation)
        if at not in self._seconds:
            prior = ROWS if read.unit < 0 else self.plan.units[read.unit].cost
            calls = dict.fromkeys(calls_of_read(self.plan, read), 1)
            found = self.measured.seconds(calls) if calls else None
            self._seconds[at] = prior if found is None else found
        return self._seconds[at]

    def passing(self, read: Read) -> float:
        """The share of rows looked at that the condition lets through.

        Asked anew each time the rows looked at have doubled: that is soon enough.
        """
        if not read.passing:
            return PASSING
        known = int(self.fills.filled[read.unit].known.sum())
        before, share = self._passing.get(read.passing, (0, PASSING))
        if known < 2 * before or known == 0:
            return share
        row = self.query(read.passing)
        looked, passed = int(row["n"][0].as_py()), int(row["t"][0].as_py() or 0)
        # one row seen either way beside them: a handful of rows proves little
        share = (passed + 1) / (looked + 2)
        self._passing[read.passing] = (known, share)
        return share
