"""A worker process (see `workers`): paths in on stdin, events and items out on stdout, a line
of JSON each."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from reeldb.index.archive import Archive
from reeldb.ingest.attempt import attempt
from reeldb.ingest.chosen import choose_embedder
from reeldb.ingest.one import Adder
from reeldb.ingest.workers import Job
from reeldb.schema.errors import ReelError

_EVERY_S = 0.1


def main() -> None:
    """Adds the files whose paths arrive until no more do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and decides
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nobody else writes among the answers
    lines = iter(sys.stdin)
    job = Job.from_json(next(lines))
    try:
        archive = Archive.open(job.archive)
        embedder = choose_embedder(archive, job.embedder)
        adder = Adder(archive, job.settings, embedder, job.replace)
        for line in lines:
            path = Path(json.loads(line))
            _say(out, item=asdict(attempt(adder, path, _throttled(out))))
    except ReelError as error:  # no file can be added
        _say(out, error=type(error).__name__, message=str(error))
    except BrokenPipeError:  # the parent is gone
        os._exit(1)


def _throttled(out: TextIO) -> Callable[[float], None]:
    told_at = 0.0

    def share(share: float) -> None:
        nonlocal told_at
        now = time.monotonic()
        if now - told_at >= _EVERY_S:
            told_at = now
            _say(out, share=share)

    return share


def _say(out: TextIO, **message: object) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
