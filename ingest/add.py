"""`add`: files, folders and patterns into an archive, each video in one commit."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reeldb.index.archive import Archive
from reeldb.index.compact import tidy
from reeldb.ingest.attempt import attempt, failed
from reeldb.ingest.chosen import address_of, choose_embedder
from reeldb.ingest.known import Known, note_gone
from reeldb.ingest.one import Adder
from reeldb.ingest.paths import absolute, find_files
from reeldb.ingest.report import WRITTEN, Item, Progress, Report
from reeldb.ingest.scenes import with_threshold
from reeldb.ingest.tally import Tally
from reeldb.ingest.workers import Job, add_with_workers
from reeldb.schema.errors import ArchiveError, IngestError
from reeldb.schema.settings import Settings

if TYPE_CHECKING:
    from reeldb.schema.models import Embedder

_TIDY_EVERY = 100  # videos: each commit leaves a few small files behind


def add(
    archive: Archive,
    paths: Iterable[str | Path],
    settings: Settings | None = None,
    *,
    embedder: str | Embedder | None = None,
    workers: int = 1,
    replace: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Indexes what `paths` mean and says what became of every file.

    What is there already is left alone, also under a new name; a file that cannot be added
    is reported and the others go on. `embedder` is an address, `none`, or a model; left out,
    the archive's own. With `workers` above 1, so many files at a time, each in a process.

    Raises IngestError where nothing could be added with these settings, ArchiveError where
    the archive cannot be written. After an interrupt all finished videos are there, and the
    same call goes on with the rest.
    """
    if workers < 1:
        raise IngestError(f"--workers {workers}: give 1 or more")
    if archive.read_only:
        raise ArchiveError(
            f"{archive.path}: may not be written here; add to a copy of it in your own folder"
        )
    paths = list(paths)
    settings = with_threshold(settings or Settings())
    model = choose_embedder(archive, embedder)
    found = find_files(paths)
    tally = Tally(found.files, progress)
    items = [failed(name, why) for name, why in found.errors]
    for item in items:
        tally.through(item)
    if workers > 1 and len(found.files) > 1:
        job = Job(str(archive.path), settings, address_of(model), replace)
        results = add_with_workers(job, found.files, workers, tally.share)
    else:
        results = _add_here(Adder(archive, settings, model, replace), found.files, tally)
    written = 0
    for item in results:
        items.append(item)
        tally.through(item)
        written += item.outcome in WRITTEN
        if written == _TIDY_EVERY:
            _tidy(archive)
            written = 0
    if written:
        _tidy(archive)
    _mark_missing(archive, paths)
    order = {str(path): n for n, path in enumerate(found.files)}
    items.sort(key=lambda item: order.get(item.path, -1))
    return Report(items, found.skipped)


def _add_here(adder: Adder, files: Sequence[Path], tally: Tally) -> Iterator[Item]:
    for path in files:
        yield attempt(adder, path, partial(tally.share, path))


def _tidy(archive: Archive) -> None:
    """Merges small files where many have piled up; the videos are safe whether or not."""
    with suppress(ArchiveError):
        tidy(archive)


def _mark_missing(archive: Archive, paths: Iterable[str | Path]) -> None:
    """Videos that were at or under one of these paths and whose files are gone."""
    roots = [absolute(p) for p in paths if not glob.has_magic(str(p))]
    known = archive.read(Known)
    for row in known.under(roots):
        if not os.path.lexists(row["path"]):
            note_gone(archive, known, row, row["path"])
