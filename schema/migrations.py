"""The archive's format version, and the numbered steps from an older one to this one.

`reel.toml` keeps the version and the names of the steps that were applied. An archive of a
newer format is refused; an older one is brought up to date under the writer lock, one step
at a time, each idempotent, so a step that was killed is simply run again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from reeldb.schema.errors import SchemaError
from reeldb.schema.tables import VIDEOS

FORMAT = 2


class Tables(Protocol):
    """What a step may do to the tables under `root` (`index.store.Store`)."""

    root: Path

    def add_column(self, table: str, field: pa.Field) -> None:
        """Add a column of NULLs; nothing happens where it exists."""
        ...


Step = Callable[[Tables], None]


def _sound_start(tables: Tables) -> None:
    tables.add_column("videos", VIDEOS.field("sound_start_s"))


STEPS: tuple[tuple[int, str, Step], ...] = ((2, "videos.sound_start_s", _sound_start),)
"""(format it leads to, name, what it does to the archive's tables), in order."""


def pending(version: int, archive: Path) -> list[tuple[int, str, Step]]:
    """The steps from `version` to `FORMAT`. Raises SchemaError for a newer archive."""
    if version > FORMAT:
        raise SchemaError(
            f"{archive}: the archive has format {version}, this program reads up to {FORMAT}; "
            "install a newer reeldb"
        )
    return [step for step in STEPS if step[0] > version]
