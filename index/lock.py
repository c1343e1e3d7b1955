"""Locks between processes: one writer at a time, and claims on rows that are not yet published.

Both are `flock` on small files, so the kernel frees them when the holder dies, however it
dies. Readers never take either.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType

from reeldb.schema.errors import ArchiveError

BUSY = (errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK)


@dataclass(slots=True)
class _Slot:
    """What this process holds of one lock file: threads queue here, then at the file."""

    gate: threading.RLock = field(default_factory=threading.RLock)
    depth: int = 0
    fd: int = -1


_SLOTS: dict[Path, _Slot] = {}
_SLOTS_GUARD = threading.Lock()


def _slot(path: Path) -> _Slot:
    with _SLOTS_GUARD:
        return _SLOTS.setdefault(path, _Slot())


def _forget_in_child() -> None:
    """A forked child shares the parent's open files; it must not believe it holds the lock."""
    for slot in _SLOTS.values():
        if slot.fd >= 0:
            os.close(slot.fd)
    _SLOTS.clear()


os.register_at_fork(after_in_child=_forget_in_child)


def _open(path: Path) -> int:
    """A descriptor of the lock file. Raises ArchiveError where the folder cannot be written."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as e:
        raise ArchiveError(
            f"{path.parent}: cannot write here ({e.strerror}); reading works, to change the "
            "archive copy it to a place you can write"
        ) from e


def _try(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as e:
        if e.errno in BUSY:
            return False
        raise ArchiveError(f"this file system cannot lock files ({e.strerror})") from e
    return True


class WriterLock:
    """The archive's one writer lock, as a context manager; reentrant within a thread.

    Raises ArchiveError naming the holder when `timeout_s` passes, or when the folder is
    read-only.
    """

    def __init__(self, path: Path, timeout_s: float = 120.0) -> None:
        self.path = path.absolute()
        self.timeout_s = timeout_s

    def __enter__(self) -> WriterLock:
        slot = _slot(self.path)
        deadline = time.monotonic() + self.timeout_s
        if not slot.gate.acquire(timeout=max(self.timeout_s, 0.0)):
            raise self._busy()
        try:
            if slot.depth == 0:
                self._take(slot, deadline)
            slot.depth += 1
        except BaseException:
            slot.gate.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        slot = _slot(self.path)
        slot.depth -= 1
        if slot.depth == 0:
            os.close(slot.fd)
            slot.fd = -1
        slot.gate.release()

    def _take(self, slot: _Slot, deadline: float) -> None:
        fd, pause_s = _open(self.path), 0.001
        try:
            while not _try(fd):
                if time.monotonic() >= deadline:
                    raise self._busy()
                time.sleep(pause_s)
                pause_s = min(pause_s * 2, 0.05)
            self._sign(fd)
        except BaseException:
            os.close(fd)
            raise
        slot.fd = fd

    def _sign(self, fd: int) -> None:
        """Write who holds the lock; only people read it, so a full disk does not matter."""
        holder = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "command": " ".join(sys.argv)[:200],
            "since": datetime.now().isoformat(timespec="seconds"),
        }
        try:
            os.ftruncate(fd, 0)
            os.pwrite(fd, json.dumps(holder).encode(), 0)
        except OSError:
            return

    def holder(self) -> str:
        """Who holds the lock, in words, as far as the file tells."""
        try:
            row = json.loads(self.path.read_text())
            return f"process {row['pid']} on {row['host']} ({row['command']}) since {row['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def _busy(self) -> ArchiveError:
        return ArchiveError(
            f"{self.path.parent}: locked by {self.holder()}; waited {self.timeout_s:g} s: "
            "try again when it is done"
        )


class Claim:
    """Says that the rows of one unpublished ingest have a living owner.

    Take it under the writer lock; compaction, which also holds that lock, keeps the rows of
    living claims and removes those of dead ones.
    """

    def __init__(self, folder: Path, ingest_id: str) -> None:
        with suppress(OSError):  # what is wrong with the folder, opening the file will tell
            folder.mkdir(exist_ok=True)
        self.path = folder / ingest_id
        self._fd = _open(self.path)
        _try(self._fd)

    def release(self) -> None:
        if self._fd >= 0:
            self.path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = -1


def is_claimed(path: Path) -> bool:
    """Whether a living process holds this claim; changes nothing."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _try(fd)
    finally:
        os.close(fd)


def living_claims(folder: Path) -> set[str]:
    """The ingest ids that a living process owns; files of dead owners are removed.

    Call it under the writer lock.
    """
    living: set[str] = set()
    for path in folder.iterdir() if folder.is_dir() else ():
        if is_claimed(path):
            living.add(path.name)
        else:
            path.unlink(missing_ok=True)
    return living
