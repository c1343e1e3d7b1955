"""Compaction: fewer files, nothing that no reader can see, no version that none can hold.

A commit adds files and versions and removes none. `compact` removes rows of killed writers
and superseded ledger rows, merges small files, and cleans versions that were superseded
longer ago than a statement may run; a reader that is slower still starts again on a fresh
snapshot (`Archive.read`). The lock is taken a table at a time, so writers wait briefly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from reeldb.index.archive import Archive
from reeldb.index.assemble import newest, positions
from reeldb.index.lock import living_claims
from reeldb.index.matrix import forget
from reeldb.index.spaces import EMBEDDINGS, space_table
from reeldb.index.store import any_of, chunks
from reeldb.index.tidy import AT_START, keep_s
from reeldb.index.vectors import ANN_ROWS, VectorSearch
from reeldb.schema.tables import INGESTED

TIDY_FILES = 120  # manifests and data files beyond one a table, before `tidy` does anything
WIDE_ROWS = 1 << 17  # rows a file, where a row holds a picture or a vector
LIGHT_ROWS = 1 << 20
AT_ONCE = 2000  # ids in one filter
FOUND = ("ocr", "objects", "actions", "speech")


@dataclass(frozen=True, slots=True)
class Compaction:
    """What was removed, and how large the archive is now (cache left out)."""

    rows_removed: int
    bytes_before: int
    bytes_after: int
    files_before: int
    files_after: int


def compact(
    archive: Archive, superseded_s: float | None = None, ann_rows: int = ANN_ROWS
) -> Compaction:
    """Make the archive small and quick. Raises ArchiveError where it cannot be written.

    Versions that were superseded less than `superseded_s` (default: `tidy.keep_s`, none
    of tables that statements read at their start) ago stay.
    Spaces of at least `ann_rows` vectors get their approximate index.
    """
    bytes_before, files_before = size(archive)
    removed = 0
    for table in archive.store.tables():
        with archive.lock():
            removed += _orphans(archive, table) + _superseded(archive, table)
            merge(archive, table)
            archive.store.clean(table, _kept_s(table) if superseded_s is None else superseded_s)
    _forget_lost_spaces(archive)
    build_indices(archive, ann_rows)
    bytes_after, files_after = size(archive)
    return Compaction(removed, bytes_before, bytes_after, files_before, files_after)


def _kept_s(table: str) -> float:
    """A statement that has not read these yet has paid for nothing and starts again."""
    return 0.0 if table in AT_START else keep_s(table)


def tidy(archive: Archive) -> Compaction | None:
    """Compact where small files have piled up; nothing, and no new version, otherwise."""
    count = size(archive)[1] - 2 * len(archive.store.tables())
    return compact(archive) if count > TIDY_FILES else None


def build_indices(archive: Archive, ann_rows: int = ANN_ROWS) -> list[str]:
    """Make the approximate index of every space that is large enough; gives their names."""
    snapshot, built = archive.snapshot(), []
    for space in snapshot.spaces():
        if archive.store.count(space_table(space)) >= max(ann_rows, 1):
            VectorSearch(snapshot, space).build_index()
            built.append(space)
    return built


def size(archive: Archive) -> tuple[int, int]:
    """Bytes and files of the tables."""
    total = count = 0
    for table in archive.store.tables():
        for file in _files(archive.path / f"{table}.lance"):
            total += _bytes(file)
            count += 1
    return total, count


def _files(folder: Path) -> Iterator[Path]:
    return (p for p in folder.rglob("*") if p.is_file())


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # another process cleaned it meanwhile
        return 0


def merge(archive: Archive, table: str) -> None:
    """One file where there are many; the caller holds the lock."""
    if archive.store.ragged(table):
        wide = table == "frames" or table.startswith(EMBEDDINGS)
        archive.store.merge(table, WIDE_ROWS if wide else LIGHT_ROWS)


def _orphans(archive: Archive, table: str) -> int:
    """Remove rows of ingests that are neither live nor owned by a living writer."""
    if table not in (*INGESTED, "speech") and not table.startswith(EMBEDDINGS):
        return 0
    store = archive.store
    live = {*store.read("videos", ["ingest_id"])["ingest_id"].to_pylist()}
    kept = live | living_claims(archive.claims)
    there = pc.unique(store.read(table, ["ingest_id"])["ingest_id"]).drop_null().to_pylist()
    return _delete(archive, table, "ingest_id", [i for i in there if i not in kept])


def _superseded(archive: Archive, table: str) -> int:
    """Remove failed attempts that have a newer row, and found rows whose look is not on record."""
    store = archive.store
    if table in ("captions", "tool_runs", "replies"):
        rows = store.read(table, ["key", "status", "created_at"], row_ids=True)
        kept = newest(rows)
        if len(kept) == len(rows):
            return 0
        dead = rows.filter(pc.invert(pc.is_in(rows["_rowid"], kept["_rowid"].combine_chunks())))
        return sum(
            store.delete(table, f"_rowid IN ({', '.join(map(str, ids))})")
            for ids in chunks(dead["_rowid"].to_pylist(), AT_ONCE)
        )
    if table in FOUND:
        looked = pc.unique(store.read("tool_runs", ["key"])["key"])
        where = "ingest_id IS NULL" if table == "speech" else None
        keys = pc.unique(store.read(table, ["key"], where)["key"])
        lost = keys.filter(pa.array(positions(pa.chunked_array([keys]), looked) < 0))
        return _delete(archive, table, "key", lost.to_pylist())
    return 0


def _delete(archive: Archive, table: str, column: str, values: Iterable[str]) -> int:
    return sum(
        archive.store.delete(table, any_of(column, some)) for some in chunks(list(values), AT_ONCE)
    )


def _forget_lost_spaces(archive: Archive) -> None:
    """Remove cached matrices of tables that are gone, and drafts of killed processes."""
    there = set(archive.store.tables())
    if archive.cache.is_dir():
        tables = {p.name.lstrip(".").split("-")[0] for p in archive.cache.iterdir()}
        for table in tables - there:
            forget(archive.cache, table)
