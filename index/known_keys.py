"""Which keys a ledger table holds, kept in memory and brought up to date by what is new.

To ask Lance for keys costs a scan of every file of the table, at every commit. Its files
(fragments) never change, so it is enough to read those that were not there before, and to
forget the keys of those that are gone: merged into others, or purged.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from reeldb.index.store import Store


@dataclass(slots=True)
class _File:
    """One fragment: how many of its rows were deleted, and the keys of the others."""

    deleted: int
    done: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


class KnownKeys:
    """The keys of `captions`, `replies` or `tool_runs` at the newest version. Thread-safe."""

    def __init__(self, store: Store, table: str) -> None:
        self._store, self._table = store, table
        self._version = -1
        self._files: dict[int, _File] = {}
        self._done: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._guard = threading.Lock()

    def done(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that have a row that is not `failed`."""
        with self._guard:
            self._refresh()
            return {k for k in keys if self._done[k] > 0}

    def there(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that have any row."""
        with self._guard:
            self._refresh()
            return {k for k in keys if self._done[k] > 0 or self._failed[k] > 0}

    def _refresh(self) -> None:
        version = self._store.version(self._table)
        if version == self._version:
            return
        now = self._store.fragments(self._table, version)
        for number in [n for n, f in self._files.items() if now.get(n) != f.deleted]:
            gone = self._files.pop(number)
            self._done.subtract(gone.done)
            self._failed.subtract(gone.failed)
        for number in [n for n in now if n not in self._files]:
            self._files[number] = self._read(number, now[number], version)
        self._version = version

    def _read(self, number: int, deleted: int, version: int) -> _File:
        rows = self._store.read_fragment(self._table, number, ["key", "status"], version)
        failed = pc.equal(rows["status"], "failed")
        file = _File(deleted, _keys(rows, pc.invert(failed)), _keys(rows, failed))
        self._done.update(file.done)
        self._failed.update(file.failed)
        return file


def _keys(rows: pa.Table, mask: pa.ChunkedArray) -> list[str]:
    return list(rows["key"].filter(mask).to_pylist())
