"""How far a batch has come, in bytes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from reeldb.ingest.report import Event, Item, Progress

_EVERY_S = 0.1


class Tally:
    """Turns shares of files into events, at most ten a second."""

    def __init__(self, files: Sequence[Path], progress: Progress | None) -> None:
        self._progress = progress
        self._sizes = {str(path): _size(path) for path in files}
        self._count = len(files)
        self._through = 0
        self._total = float(sum(self._sizes.values()))
        self._done = 0.0
        self._under_way: dict[str, float] = {}
        self._told_at = 0.0

    def share(self, path: Path, share: float) -> None:
        """`share` (0 to 1) of the file is done."""
        now = time.monotonic()
        if self._progress is None or now - self._told_at < _EVERY_S:
            return
        self._told_at = now
        self._under_way[str(path)] = share * self._sizes[str(path)]
        what = f"{path.name} ({self._through + 1} of {self._count})"
        self._progress(Event(what, self._done + sum(self._under_way.values()), self._total))

    def through(self, item: Item) -> None:
        """The file of this item is through; one that needed no work leaves the total, so
        that the rate is that of real work."""
        self._through += 1
        self._under_way.pop(item.path, None)
        size = self._sizes.get(item.path, 0)
        if item.outcome in ("added", "replaced"):
            self._done += size
        else:
            self._total -= size
        if self._progress is not None:
            done = self._done + sum(self._under_way.values())
            self._progress(Event(item.path, done, self._total, item))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
