"""What a filler is, and what it works with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from reeldb.query.budget import Budget
from reeldb.query.catalog import Catalog
from reeldb.query.pictures import PictureReader
from reeldb.schema.errors import ArchiveError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reeldb.index.ledger import Ledger
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


class Filler(Protocol):
    """`size` is how many keys are best made together."""

    @property
    def size(self) -> int: ...

    def recall(self, keys: Sequence[int]) -> Batch:
        """The values that are known, or free."""
        ...

    def make(self, keys: Sequence[int]) -> Batch:
        """Values of the first of these keys, as far as the budget goes."""
        ...


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

    def count(self, name: str, more: int) -> None:
        self.stats[name] = self.stats.get(name, 0) + more

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def keep(self, write: Callable[[], object]) -> None:
        """Writes to the ledger; an archive that cannot be written is told, not fatal."""
        try:
            write()
        except ArchiveError as e:
            self.note(f"what was computed is not kept: {e}")
