"""The archive's format version, and the numbered steps from an older one to this one.

`reel.toml` keeps the version and the names of the steps that were applied. An archive of a
newer format is refused; an older one is brought up to date under the writer lock, one step
at a time, each idempotent, so a step that was killed is simply run again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reeldb.schema.errors import SchemaError

FORMAT = 1

Step = Callable[[Path], None]
STEPS: tuple[tuple[int, str, Step], ...] = ()
"""(format it leads to, name, what it does to the archive's directory), in order."""


def pending(version: int, archive: Path) -> list[tuple[int, str, Step]]:
    """The steps from `version` to `FORMAT`. Raises SchemaError for a newer archive."""
    if version > FORMAT:
        raise SchemaError(
            f"{archive}: the archive has format {version}, this program reads up to {FORMAT}; "
            "install a newer reeldb"
        )
    return [step for step in STEPS if step[0] > version]
