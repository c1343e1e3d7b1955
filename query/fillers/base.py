"""What a filler is, and what it works with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reeldb.index.ledger import Ledger, now
from reeldb.query.budget import Budget, Kind
from reeldb.query.catalog import Catalog
from reeldb.query.pictures import PictureReader
from reeldb.query.prices import price_of
from reeldb.schema.errors import ArchiveError
from reeldb.schema.models import Metered, Reply

if TYPE_CHECKING:
    from reeldb.models.registry import Models


@dataclass(slots=True)
class Batch:
    """Values by row number. `states` hold ok, empty, refused, failed or unread."""

    keys: list[int] = field(default_factory=list)
    values: list[object] = field(default_factory=list)
    states: list[str] = field(default_factory=list)

    def add(self, key: int, value: object, state: str) -> None:
        self.keys.append(key)
        self.values.append(value)
        self.states.append(state)

    def extend(self, other: Batch) -> None:
        self.keys += other.keys
        self.values += other.values
        self.states += other.states

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class Arrays:
    """The same for many values at once: row numbers, values and states of equal length."""

    keys: NDArray[np.int64]
    values: pa.Array
    states: pa.Array

    def __len__(self) -> int:
        return len(self.keys)

    def batch(self) -> Batch:
        return Batch(self.keys.tolist(), self.values.to_pylist(), self.states.to_pylist())


Keys = Sequence[int] | NDArray[np.int64]


class Filler(Protocol):
    """`size` is how many keys are best made together."""

    @property
    def size(self) -> int: ...

    def recall(self, keys: Keys) -> Batch | Arrays:
        """The values that are known, or free."""
        ...

    def make(self, keys: Sequence[int]) -> Batch:
        """Values of the first of these keys, as far as the budget goes."""
        ...


@runtime_checkable
class Flowing(Protocol):
    """A filler that takes more keys at once than `size`: at most `most`."""

    @property
    def most(self) -> int: ...


class Kept(Protocol):
    """A row of the ledger, as far as retries go."""

    @property
    def status(self) -> str: ...

    @property
    def created_at(self) -> datetime: ...


RETRY_AFTER_S = 30.0  # a failed call is made again by a statement that starts so much later
Clock = Callable[[], datetime]
Some = TypeVar("Some")


def metered(replies: Iterable[Reply]) -> bool:
    """Whether the tokens of all replies are known; a call that failed is taken to be free."""
    return all(r.tokens for r in replies if r.calls and r.status != "failed")


@dataclass(slots=True)
class Work:
    """What the fillers of one statement share."""

    catalog: Catalog
    models: Models
    ledger: Ledger
    budget: Budget
    pictures: PictureReader
    notes: list[str]
    stats: dict[str, int]
    lazy: frozenset[str]  # the SET names that are lazy: captions, ocr ...
    clock: Clock = now
    retry_after_s: float = RETRY_AFTER_S
    asks: bool = True  # False: no server may be called, not even an embedder
    started: datetime = field(init=False)
    resting: dict[str, list[datetime]] = field(default_factory=dict)  # failures left alone

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def since(self) -> datetime:
        """A failure that is not older is left alone in this statement."""
        return self.started - timedelta(seconds=self.retry_after_s)

    def count(self, name: str, more: int) -> None:
        self.stats[name] = self.stats.get(name, 0) + more

    def metered(self, model: Some, kind: Kind) -> Some:
        """The model, every repeated call of which is debited before it is made."""
        if not isinstance(model, Metered):
            return model
        return cast(Some, model.metered(lambda: self.budget.again(kind)))

    def paid(
        self,
        address: str,
        seconds: float,
        tokens: int,
        kind: Kind = "looks",
        replies: Sequence[Reply] = (),
        *,
        metered: bool = False,
    ) -> None:
        """What calls of a model cost, known only after them; `metered` says that `tokens` are
        all that they took (see `metered`)."""
        price = price_of(address)
        if price != 0.0 and (price is None or not metered):
            self.budget.add(address, 0, None)
        price = price or 0.0
        most = max((r.tokens for r in replies), default=tokens)
        usd = price / 1e6
        self.budget.paid(kind, seconds, tokens, tokens * usd, most, most * usd, calls=len(replies))

    def unmetered(self, address: str | None) -> None:
        """Takes note of a model whose tokens nobody counts: what it cost is not known."""
        if address is not None and price_of(address) != 0.0:
            self.budget.add(address, 0, None)

    def rests(self, kind: str, row: Kept) -> None:
        """Takes note of a failure of an earlier statement that is not tried again yet."""
        if row.status == "failed" and row.created_at < self.started:
            self.resting.setdefault(kind, []).append(row.created_at)

    def resting_notes(self) -> list[str]:
        out = []
        for kind, times in self.resting.items():
            left = self.retry_after_s - (self.started - max(times)).total_seconds()
            ones = f"1 {kind.rstrip('s')}" if len(times) == 1 else f"{len(times):,} {kind}"
            out.append(
                f"{ones} failed a moment ago and NULL: tried again in {max(1, ceil(left))} s"
            )
        return out

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def keep(self, write: Callable[[], object]) -> None:
        """Writes to the ledger; an archive that cannot be written is told, not fatal."""
        try:
            write()
        except ArchiveError as e:
            self.note(f"what was computed is not kept: {e}")

    def once(
        self,
        rows: Sequence[int],
        address: Callable[[int], str],
        learn: Callable[[Sequence[int], datetime], Iterable[int]],
        compute: Callable[[Sequence[int]], None],
    ) -> None:
        """Computes the rows' values, each address once among all threads and processes.

        `learn(rows, since)` takes what the ledger holds by now and gives the rows that are still
        unknown. A failure that is not older than `since` counts as known: it is too young to be
        tried again, and whoever waited for a call that failed does not repeat it.
        """
        while rows:
            with self.ledger.flights.claim(address(r) for r in rows) as mine:
                own = [r for r in rows if address(r) in mine]
                own = list(learn(own, self.since)) if own else []
                first = list({address(r): r for r in reversed(own)}.values())[::-1]
                if first:
                    compute(first)
            twins = [r for r in own if r not in first]
            if twins:  # rows of one address: a budget that did not reach the first ends here
                learn(twins, self.since)
            rows = [r for r in rows if address(r) not in mine]
            for row in rows:
                self.ledger.flights.wait(address(row))
            rows = list(learn(rows, self.since)) if rows else []
