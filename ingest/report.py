"""What `add` says: events while it runs, and a report that names every file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from reeldb.schema.counts import counted

Outcome = Literal["added", "known", "moved", "copied", "replaced", "embedded", "failed"]
"""`known`: nothing to do. `moved`: indexed before, under a path that is gone. `copied`: the
rows of a video that shows the same were copied, nothing was decoded. `embedded`: `reindex`
gave it vectors."""

WRITTEN: tuple[Outcome, ...] = ("added", "copied", "replaced")
"""The outcomes that wrote rows."""


@dataclass(frozen=True, slots=True)
class Item:
    """What became of one file. `message` says why it failed, or what is worth knowing."""

    path: str
    outcome: Outcome
    message: str = ""
    video_id: str | None = None
    damaged: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Event:
    """A step: `done` of `total` bytes of the batch, or `item`, a file that is through.

    Files with nothing to do leave the total. Where `total` is None, `done` is seconds of
    video.
    """

    what: str
    done: float
    total: float | None
    item: Item | None = None


Progress = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Report:
    """Every file in the order given; `skipped` counts other files met in folders."""

    items: list[Item] = field(default_factory=list)
    skipped: int = 0

    @property
    def failed(self) -> list[Item]:
        return [item for item in self.items if item.outcome == "failed"]

    def summary(self) -> str:
        """One line: how many files went which way.

        >>> Report([Item("a", "added"), Item("b", "failed", "why")]).summary()
        '2 files: 1 added, 1 failed'
        """
        counts = Counter(item.outcome for item in self.items)
        parts = [f"{counts[o]} {o}" for o in get_args(Outcome) if counts[o]]
        files = counted(len(self.items), "file")
        return f"{files}: {', '.join(parts)}" if parts else "no files"
