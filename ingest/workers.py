"""Several files at a time: each worker is a process that adds whole files, one after another.

A worker is a fresh interpreter that is told what to do in lines of JSON, so a caller's script
needs no `__main__` guard, and a file that brings its process down costs only itself. Every
worker commits its own videos under the archive's lock.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import IO, Any

import reeldb
from reeldb.ingest.attempt import failed
from reeldb.ingest.report import Item
from reeldb.schema import errors
from reeldb.schema.settings import Settings

_GRACE_S = 2.0
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """What every worker is told first."""

    archive: str
    settings: Settings
    embedder: str
    replace: bool

    def to_json(self) -> str:
        return json.dumps({**asdict(self), "settings": self.settings.row()})

    @classmethod
    def from_json(cls, line: str) -> Job:
        told = json.loads(line)
        return cls(**{**told, "settings": Settings(**told["settings"])})


def add_with_workers(
    job: Job, files: Sequence[Path], workers: int, share: Callable[[Path, float], None]
) -> Iterator[Item]:
    """The items of the files as they are done, in any order.

    A file whose process dies is a failed item. Raises what a worker says makes it
    impossible to add any file. When the caller stops, for whatever reason, so do the
    processes.
    """
    pool = _Pool(job, files, min(workers, len(files)))
    try:
        pool.start()
        for _ in files:
            while isinstance(told := pool.told.get(), tuple):
                share(*told)
            if isinstance(told, Exception):
                raise told
            yield told
    finally:
        pool.stop()


class _Pool:
    """Threads that each keep one process busy; `told` is what they have to say."""

    def __init__(self, job: Job, files: Sequence[Path], workers: int) -> None:
        self._job = job
        self._left = list(reversed(files))
        self._guard = Lock()
        self._stopped = False
        self._children: list[_Child] = []
        self._threads = [Thread(target=self._serve, daemon=True) for _ in range(workers)]
        self.told: SimpleQueue[Item | tuple[Path, float] | Exception] = SimpleQueue()

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        with self._guard:
            self._stopped = True
            children = list(self._children)
        for child in children:
            child.stop()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _serve(self) -> None:
        child: _Child | None = None
        try:
            while (path := self._next()) is not None:
                child = child if child is not None and child.alive else self._new_child()
                self.told.put(child.add(path, partial(self._tell_share, path)))
        except Exception as error:  # raised again in the caller's thread
            self.told.put(error)
        finally:
            if child is not None:
                child.stop()

    def _tell_share(self, path: Path, share: float) -> None:
        self.told.put((path, share))

    def _next(self) -> Path | None:
        with self._guard:
            return None if self._stopped or not self._left else self._left.pop()

    def _new_child(self) -> _Child:
        with self._guard:
            child = _Child(self._job)
            self._children.append(child)
            if self._stopped:
                child.stop()
            return child


class _Child:
    """One worker process, at the other end of two pipes."""

    def __init__(self, job: Job) -> None:
        here = str(Path(reeldb.__file__).parent.parent)
        paths = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "reeldb.ingest.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths},
            text=True,
            encoding="utf-8",
        )
        self._send(job.to_json())

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def add(self, path: Path, share: Callable[[float], None]) -> Item:
        """Has the process add the file. Raises the ReelError that it says stops it."""
        self._send(json.dumps(str(path)))
        for line in _pipe(self._process.stdout):
            told: Message = json.loads(line)
            if "share" in told:
                share(told["share"])
            elif "item" in told:
                return Item(**told["item"])
            else:
                raise getattr(errors, told["error"])(told["message"])
        return failed(path, f"the process that read it {_ending(self._process.wait())}")

    def stop(self) -> None:
        """Ends the process now; nothing of the file it is at becomes visible."""
        self._process.terminate()
        try:
            self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                _pipe(pipe).close()

    def _send(self, line: str) -> None:
        pipe = _pipe(self._process.stdin)
        with suppress(BrokenPipeError):  # it died: reading finds out
            pipe.write(line + "\n")
            pipe.flush()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def _ending(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}; it may need more memory than there is"
    return f"ended with code {code}"
