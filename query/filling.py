"""Filling: making what a statement needs, in waves, until no missing value can matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reeldb.query.budget import Budget
from reeldb.query.fill import Fills
from reeldb.query.fillers.base import Flowing, Keys
from reeldb.query.plan import Fill, Plan, Read, TopRows
from reeldb.query.ranks import Ranks

FIRST_ROWS = 4  # a LIMIT asks for this many times the rows it wants, then for twice as many ...
MOST_STEPS = 64  # batches of one read before the others are looked at again


@dataclass(frozen=True, slots=True)
class Counts:
    """Values of one read: known before, made now, and read as NULL because SET says so."""

    cached: int = 0
    made: int = 0
    nulls: int = 0

    def __add__(self, more: Counts) -> Counts:
        return Counts(self.cached + more.cached, self.made + more.made, self.nulls + more.nulls)


class Filling:
    """The fills of one statement while it runs.

    `open` tells how many keys of a read, by (fill, read), were left without a value; `counts`
    what each read took. `check_types` runs once, before anything is made.
    """

    def __init__(
        self,
        plan: Plan,
        fills: Fills,
        budget: Budget,
        query: Callable[[str], pa.Table],
        check_types: Callable[[], None],
        ranks: Ranks,
    ) -> None:
        self.plan, self.fills, self.budget, self.query = plan, fills, budget, query
        self.check_types, self.ranks = check_types, ranks
        self.open: dict[tuple[int, int], int] = {}
        self.counts: dict[tuple[int, int], Counts] = {}
        self.top: dict[int, int] = {}
        self.checked = False

    def fill(self, fill: Fill) -> None:
        """Fills until nothing that is missing can matter, or the budget ends.

        A read whose keys all got their value asks for no more: values only ever narrow what
        is needed. So one pass is enough where every read could be filled at once.
        """
        if fill.top is not None:
            while self._fill_top(fill, fill.top):
                pass
            return
        if len(rivals := self.ranks.rivals(fill)) > 1:
            self._fill_ranked(fill, rivals)
            return
        again = True
        while again:
            more = [self._fill_read(fill, i, r) for i, r in enumerate(fill.reads)]
            again = any(more)

    def _fill_ranked(self, fill: Fill, rivals: Sequence[int]) -> None:
        """Fills reads of which each shields the others: always some of the one that now drops
        most rows for what it costs. What is known is free, and taken first."""
        steps = 1
        stuck: set[int] = set()
        while True:
            left: dict[int, list[int]] = {}
            for i, read in enumerate(fill.reads):
                if i not in rivals:
                    self._fill_read(fill, i, read)
                    continue
                keys = self.query(read.query)["k"].drop_null().to_numpy()
                self.open.pop((fill.number, i), None)
                if len(keys) and self._recall(fill.number, i, read, keys) < len(keys):
                    left[i] = [k for k in keys.tolist() if not self.fills.is_known(read, k)]
            free = [i for i in left if i not in stuck]
            if not free:
                self.open |= {(fill.number, i): len(keys) for i, keys in left.items()}
                return
            i = self.ranks.order(fill, free)[0]
            made = 0
            for part in self._rounds(fill.reads[i], left[i])[:steps]:
                made += (n := self._make(fill.number, i, fill.reads[i], part))
                if n < len(part):
                    break
            if made:
                steps = min(2 * steps, MOST_STEPS)
            else:
                stuck.add(i)

    def _fill_read(self, fill: Fill, i: int, read: Read) -> bool:
        """Fills one read as far as it can; True where there is more to do."""
        keys = self.query(read.query)["k"].drop_null().to_numpy()
        return self._ask(fill.number, i, read, keys)

    def _recall(self, number: int, i: int, read: Read, keys: Keys) -> int:
        found = self.fills.recall(read, keys)
        self._count(number, i, Counts(found.known, 0, found.nulls))
        return found.all

    def _make(self, number: int, i: int, read: Read, keys: list[int]) -> int:
        if not self.checked:
            self.checked = True
            self.check_types()
        made = self.fills.make(read, keys)
        self._count(number, i, Counts(0, made))
        return made

    def _count(self, number: int, i: int, more: Counts) -> None:
        self.counts[number, i] = self.counts.get((number, i), Counts()) + more

    def _ask(self, number: int, i: int, read: Read, wanted: NDArray[np.int64]) -> bool:
        self.open.pop((number, i), None)
        known = self._recall(number, i, read, wanted) if len(wanted) else 0
        if known == len(wanted):
            return False
        keys = [k for k in wanted.tolist() if not self.fills.is_known(read, k)]
        changed = 0
        for part in self._rounds(read, keys):
            made = self._make(number, i, read, part)
            changed += made
            if made < len(part):
                break
        if changed == 0:
            self.open[number, i] = len(keys)
        return 0 < changed < len(keys) or (changed > 0 and read.unit < 0)

    def _rounds(self, read: Read, keys: list[int]) -> list[list[int]]:
        """The keys in the batches in which they are made.

        Where the budget does not reach for all only the first, so that what there is pays for
        whole rows, with all that they need.
        """
        if read.unit < 0:
            return [keys]
        filler = self.fills.filler(read)
        if self._scarce(read, len(keys)):
            return [keys[: filler.size]]
        size = filler.most if isinstance(filler, Flowing) else filler.size
        return [keys[j : j + size] for j in range(0, len(keys), size)]

    def _scarce(self, read: Read, keys: int) -> bool:
        unit = self.plan.units[read.unit]
        looked = unit.column in ("ocr_text", "speech_text")
        usual = ("looks",) if looked else ("captions",)
        kinds = {"matches": ("chats", "captions")}.get(unit.kind, usual)
        return any(self.budget.left(kind) < keys for kind in kinds)  # type: ignore[arg-type]

    def _fill_top(self, fill: Fill, top: TopRows) -> bool:
        """One wave of a LIMIT: the first undecided rows that can still be among the first."""
        wave = max([self.fills.filler(r).size for r in fill.reads], default=16)
        wanted = self._undecided(fill, top, wave)
        changed = False
        for i in self.ranks.order(fill, range(len(fill.reads))):
            read, keys = fill.reads[i], wanted[i]
            self.open.pop((fill.number, i), None)
            if not keys or changed:
                continue
            if self._recall(fill.number, i, read, keys):
                self.top[-fill.number] = min(2 * self.top.get(-fill.number, 1), 64)
                changed = True
            elif self._make(fill.number, i, read, keys[:wave]):
                self.top[-fill.number] = 1
                changed = True
            else:
                self.open[fill.number, i] = len(keys)
        return changed

    def _undecided(self, fill: Fill, top: TopRows, wave: int) -> list[list[int]]:
        """For each read the keys wanted among the first `wave` undecided rows.

        The window doubles while values come from what is known, for then it is free.
        """
        if top.rows == 0:
            return [[] for _ in fill.reads]
        wave *= self.top.get(-fill.number, 1)
        n = self.top.get(fill.number, FIRST_ROWS * (top.rows + wave))
        while True:
            rows = self.query(f"{top.query} LIMIT {n}")
            found, ended = _walk(rows, len(fill.reads), top.rows, wave)
            if ended or any(found) or rows.num_rows < n:
                self.top[fill.number] = n
                return found
            n *= 2


def _walk(rows: pa.Table, reads: int, wanted: int, wave: int) -> tuple[list[list[int]], bool]:
    """Walks candidates in order until `wanted` are sure or `wave` are undecided."""
    sure = undecided = 0
    found: list[dict[int, None]] = [{} for _ in range(reads)]
    columns = [rows["m"].to_pylist()]
    for i in range(reads):
        columns += [rows[f"k{i}"].to_pylist(), rows[f"n{i}"].to_pylist()]
    for m, *pairs in zip(*columns, strict=True):
        if sure >= wanted:
            return [list(f) for f in found], True
        undecided += not m
        if undecided > wave:
            return [list(f) for f in found], True
        for i in range(reads):
            key, need = pairs[2 * i], pairs[2 * i + 1]
            if need and key is not None:
                found[i][key] = None
        sure += bool(m)
    return [list(f) for f in found], sure >= wanted
