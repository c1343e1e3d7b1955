"""One file of a batch: added, or reported and skipped."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path

from reeldb.ingest.memory import give_back
from reeldb.ingest.one import Adder, Share
from reeldb.ingest.report import Item
from reeldb.media.container import shown_path
from reeldb.schema.errors import ArchiveError, ReelError

_log = logging.getLogger(__name__)


def attempt(adder: Adder, path: Path, share: Share) -> Item:
    """What became of the file, whatever is wrong with it. Raises ArchiveError where no file
    could be added, as on a full disk."""
    started = time.monotonic()
    try:
        item = adder.add(path, share)
    except ArchiveError:
        raise
    except ReelError as error:
        item = failed(path, str(error))
    except Exception as error:  # one strange file must not end a batch of thousands
        _log.debug("adding %s", path, exc_info=True)
        item = failed(path, f"cannot be added: {type(error).__name__}: {error}")
    give_back()
    return replace(item, seconds=round(time.monotonic() - started, 3))


def failed(path: Path | str, why: str) -> Item:
    """An item that says why, once: the path in front of the message is not repeated."""
    return Item(str(path), "failed", why.removeprefix(f"{shown_path(path)}: "))
