"""Single flight: of all threads and processes that want one key, one computes it.

Within a process a table of keys in flight is shared by everybody who opened the same archive.
Across processes a key is one locked byte of one file, at an offset that is the key's own
digest, so a claim costs nothing on disk and is freed when its holder dies. Nobody waits
while holding a claim, so nobody waits for ever.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

FILE = "flights"
OFFSET_DIGITS = 15  # hexadecimal: 60 bits of the key, below the largest file offset
POLL_S = 0.02


@dataclass
class _Shared:
    """What all openers of one archive in this process share: POSIX locks belong to processes."""

    fd: int | None
    held: dict[str, threading.Event] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)


_OPENED: dict[tuple[int, str], _Shared] = {}
_GUARD = threading.Lock()


class Flights:
    """The keys being computed on behalf of one archive. Keys are hexadecimal digests."""

    def __init__(self, archive: Path) -> None:
        name = os.path.realpath(archive)
        with _GUARD:
            at = (os.getpid(), name)  # a forked child holds none of its parent's locks
            if at not in _OPENED:
                _OPENED[at] = _Shared(_open(Path(name) / FILE))
            self._shared = _OPENED[at]

    @contextmanager
    def claim(self, keys: Iterable[str]) -> Iterator[set[str]]:
        """Those of the keys that nobody else is computing; the caller's until the block ends."""
        mine: dict[str, threading.Event] = {}
        try:
            with self._shared.guard:
                for key in dict.fromkeys(keys):
                    if key not in self._shared.held and self._lock(key):
                        mine[key] = self._shared.held[key] = threading.Event()
            yield set(mine)
        finally:
            with self._shared.guard:
                for key, done in mine.items():
                    self._unlock(key)
                    del self._shared.held[key]
                    done.set()

    def wait(self, key: str) -> None:
        """Returns once nobody holds the key. Call it outside `claim` only."""
        pause = threading.Event()
        while True:
            with self._shared.guard:
                here = self._shared.held.get(key)
                if here is None and self._lock(key):
                    self._unlock(key)
                    return
            (here or pause).wait(None if here else POLL_S)

    def _lock(self, key: str) -> bool:
        fd = self._shared.fd
        if fd is None:
            return True
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(key))
        except OSError:
            return False
        return True

    def _unlock(self, key: str) -> None:
        if self._shared.fd is not None:
            fcntl.lockf(self._shared.fd, fcntl.LOCK_UN, 1, _offset(key))


def _open(path: Path) -> int | None:
    """The lock file, or None where the archive cannot be written: then only threads share."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return None


def _offset(key: str) -> int:
    return int(key[:OFFSET_DIGITS], 16)
