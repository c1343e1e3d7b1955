"""An archive: one folder with `reel.toml`, Lance tables, a lock file and a cache."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from reeldb.index import reel_toml
from reeldb.index.lock import WriterLock
from reeldb.index.reel_toml import ReelToml
from reeldb.index.snapshot import Snapshot
from reeldb.index.store import SUFFIX, Store
from reeldb.schema.errors import ArchiveError, BindError, VersionGone, near
from reeldb.schema.migrations import FORMAT, pending
from reeldb.schema.models import ROLES
from reeldb.schema.tables import TABLES

T = TypeVar("T")
ADDRESS = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")
TRIES = 5  # snapshots a statement starts on before files count as lost
OURS = ("lock", "cache", "writers")  # what an interrupted creation may have left, beside tables


class Archive:
    """An open archive. Cheap to keep, safe to share between threads.

    Make one with `Archive.open`.
    """

    def __init__(self, path: Path, content: ReelToml) -> None:
        self.path = path
        self.store = Store(path)
        self._toml = content
        self._memo = Memo()

    @classmethod
    def open(cls, path: str | os.PathLike[str], create: bool = False) -> Archive:
        """The archive in this folder; with `create` a new one where the folder is empty or absent.

        Raises ArchiveError where there is none, and SchemaError where it is of a newer format.
        """
        folder = _local(path)
        if not (folder / reel_toml.NAME).exists():
            if not create:
                raise _not_there(folder)
            _create(folder)
        content = reel_toml.read(folder)
        if pending(content.format, folder):
            content = _migrate(folder)
        return cls(folder, content)

    @property
    def read_only(self) -> bool:
        """Whether this process may not write here."""
        return not os.access(self.path, os.W_OK)

    @property
    def cache(self) -> Path:
        """The folder of files that can be made again: matrices and vector indices."""
        return self.path / "cache"

    @property
    def claims(self) -> Path:
        """The folder of claims of unpublished ingests (see `lock.Claim`)."""
        return self.path / "writers"

    @property
    def models(self) -> Mapping[str, str]:
        """Role -> address of the models this archive uses, as written in `reel.toml` now."""
        try:
            self._toml = reel_toml.read(self.path)
        except FileNotFoundError as e:
            raise _not_there(self.path) from e
        return dict(self._toml.models)

    def set_model(self, role: str, address: str) -> None:
        """Write the model of a role into `reel.toml`."""
        if role not in ROLES:
            raise BindError(f"no role {role!r}: {near(role, ROLES)}")
        with self.lock():
            reel_toml.write(self.path, reel_toml.read(self.path).with_model(role, address))

    def lock(self, timeout_s: float = 120.0) -> WriterLock:
        """The writer lock, to be held for commits only."""
        return WriterLock(self.path / "lock", timeout_s)

    def snapshot(self) -> Snapshot:
        """One moment of all tables."""
        return Snapshot.now(self)

    def read(self, work: Callable[[Snapshot], T]) -> T:
        """What `work` gives on a snapshot; again on a fresh one if its version was cleaned."""
        for _ in range(TRIES - 1):
            with suppress(VersionGone):
                return work(self.snapshot())
        try:
            return work(self.snapshot())
        except VersionGone as e:  # no compaction is that quick: the files are not there
            raise ArchiveError(f"{e}; if that does not help, files are lost: `reel verify`") from e

    def remember(self, name: str, key: Hashable, make: Callable[[], T]) -> T:
        """`make()`, kept for the next call with the same name and key."""
        return self._memo.get(name, key, make)


class Memo:
    """The last two values of each name: statements that overlap a commit share both."""

    def __init__(self, keep: int = 2) -> None:
        self._keep = keep
        self._guard = threading.Lock()
        self._gates: dict[str, threading.Lock] = {}
        self._values: dict[str, dict[Hashable, object]] = {}

    def get(self, name: str, key: Hashable, make: Callable[[], T]) -> T:
        with self._guard:
            gate = self._gates.setdefault(name, threading.Lock())
        with gate:  # one thread makes it, the others wait for it
            kept = self._values.setdefault(name, {})
            if key not in kept:
                value = make()
                for old in list(kept)[: len(kept) - self._keep + 1]:
                    del kept[old]
                kept[key] = value
            return kept[key]  # type: ignore[return-value]


def _local(path: str | os.PathLike[str]) -> Path:
    text = os.fspath(path)
    if ADDRESS.match(text):
        raise ArchiveError(
            f"{text}: archives live in local folders for now, object stores and URLs are not "
            "supported; give a folder, such as ./reel-archive"
        )
    if not text or "\0" in text:
        raise ArchiveError(f"{text!r} is no folder; give one, such as ./reel-archive")
    return Path(text).expanduser().absolute()


def _not_there(folder: Path) -> ArchiveError:
    if not folder.exists():
        why = "no archive there"
    elif not folder.is_dir():
        why = "a file, not the folder of an archive"
    else:
        why = f"not an archive (no {reel_toml.NAME} in it)"
    return ArchiveError(
        f"{folder}: {why}; `reel --archive DIR add VIDEO` makes one, --archive DIR names another"
    )


def _create(folder: Path) -> None:
    """Make the tables, then `reel.toml`: a creation that was killed is simply done again."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        foreign = sorted(p.name for p in folder.iterdir() if not _ours(p.name))
        if not foreign:
            (folder / "cache").mkdir(exist_ok=True)
    except OSError as e:
        raise ArchiveError(f"{folder}: no archive can be made here ({e.strerror})") from e
    if foreign:
        raise ArchiveError(
            f"{folder}: not an archive, and not empty ({foreign[0]!r} is in it); "
            "give a new or empty folder"
        )
    with WriterLock(folder / "lock"):
        if (folder / reel_toml.NAME).exists():
            return
        store = Store(folder)
        for table, schema in TABLES.items():
            store.create(table, schema)
        reel_toml.write(folder, ReelToml())


def _ours(name: str) -> bool:
    return name in OURS or name.endswith(SUFFIX) or name.startswith(f".{reel_toml.NAME}")


def _migrate(folder: Path) -> ReelToml:
    """Bring an older archive to this format, a step at a time, under the lock."""
    with WriterLock(folder / "lock"):
        content = reel_toml.read(folder)
        for version, name, step in pending(content.format, folder):
            step(Store(folder))
            content = content.with_step(version, name)
            reel_toml.write(folder, content)
    return content


__all__ = ["FORMAT", "Archive"]
