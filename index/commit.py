"""Commits: the rows of one video become visible together, or not at all.

A `Writer` gathers the rows of one ingest under an `ingest_id` of its own. Nobody sees them
until `publish` writes the `videos` row that names this id, last and under the writer lock.
A writer that is killed leaves at most rows that no video names; compaction removes them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reeldb.index.archive import Archive
from reeldb.index.lock import Claim
from reeldb.index.spaces import EMBEDDINGS, space_table
from reeldb.index.store import any_of, quote, shape
from reeldb.schema.errors import ArchiveError, BindError, SchemaError, near
from reeldb.schema.tables import INGESTED, TABLES, embeddings_schema

SPILL_BYTES = 64 << 20
Rows: TypeAlias = pa.Table | Sequence[Mapping[str, Any]]
VideoRow: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Vectors:
    """Unit vectors of one space: `matrix[i]` is the picture at `times_s[i]`, shape (n, dim)."""

    space: str
    times_s: NDArray[np.float64]
    matrix: NDArray[np.float32]


@dataclass
class Ingest:
    """All rows of one video, for `Writer.put`."""

    video: VideoRow
    scenes: Rows = ()
    frames: Rows = ()
    subtitles: Rows = ()
    vectors: Vectors | None = None


@dataclass(frozen=True, slots=True)
class Published:
    """What is live now: `ours` is False where another process had published the video first."""

    video_id: str
    ingest_id: str
    ours: bool


class Writer:
    """Rows of one ingest on their way into an archive; one writer a video, one thread a writer.

    Staged rows wait in memory and are written to their tables, still invisible, when they
    pass `spill_bytes`. A context manager: leaving it unpublished drops what was staged.
    """

    def __init__(self, archive: Archive, spill_bytes: int = SPILL_BYTES) -> None:
        self.archive = archive
        self.ingest_id = uuid.uuid4().hex
        self._spill_bytes = spill_bytes
        self._waiting: dict[str, list[pa.Table]] = {}
        self._schemas: dict[str, pa.Schema] = {}
        self._spilled: set[str] = set()
        self._claim: Claim | None = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    # -- staging

    def stage(self, table: str, rows: Rows) -> None:
        """Gather rows of `scenes`, `frames` or `speech` (subtitles), stamped with this ingest.

        Raises SchemaError where they do not fit.
        """
        if table not in (*INGESTED, "speech"):
            raise SchemaError(f"{table} holds no rows of an ingest; scenes, frames and speech do")
        self._stage(table, TABLES[table], rows)

    def stage_vectors(self, video_id: str, vectors: Vectors) -> int:
        """Gather vectors; gives how many were left out because they hold NaN or infinity."""
        rows, left_out = vector_rows(video_id, vectors)
        self._stage(space_table(vectors.space), rows.schema, rows)
        return left_out

    def put(self, ingest: Ingest, replace: bool = False) -> Published:
        """Stage everything and publish."""
        self.stage("scenes", ingest.scenes)
        self.stage("frames", ingest.frames)
        self.stage("speech", ingest.subtitles)
        if ingest.vectors is not None:
            self.stage_vectors(str(ingest.video["video_id"]), ingest.vectors)
        return self.publish(ingest.video, replace)

    def _stage(self, table: str, schema: pa.Schema, rows: Rows) -> None:
        shaped = shape(table, schema, rows)
        stamp = pa.array([self.ingest_id] * len(shaped), pa.string())
        shaped = shaped.set_column(schema.get_field_index("ingest_id"), "ingest_id", stamp)
        if not len(shaped):
            return
        self._schemas[table] = schema
        self._waiting.setdefault(table, []).append(shaped)
        if sum(t.nbytes for ts in self._waiting.values() for t in ts) > self._spill_bytes:
            with self.archive.lock():
                self._claim = self._claim or Claim(self.archive.claims, self.ingest_id)
                self._flush()

    def _flush(self) -> None:
        """Write what waits; the caller holds the lock."""
        store = self.archive.store
        for table in list(self._waiting):
            if table.startswith(EMBEDDINGS):
                store.create(table, self._schemas[table])
            self._spilled.add(table)
            store.append(table, pa.concat_tables(self._waiting[table]))
            del self._waiting[table]

    def discard(self) -> None:
        """Drop what was staged and not published."""
        self._waiting.clear()
        spilled, self._spilled = self._spilled, set()
        if spilled:
            # rows that cannot be removed now are invisible, and compaction removes them
            with suppress(ArchiveError), self.archive.lock():
                self._delete(self.ingest_id, spilled)
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    # -- publishing

    def publish(self, video: VideoRow, replace: bool = False) -> Published:
        """Make the staged rows visible, with this `videos` row, in one commit.

        Where the video is there already, the first one stays and learns the new path, unless
        `replace`: then the new rows take the place of the old ones, whose paths stay known.
        Raises ArchiveError where the archive cannot be written; nothing of the new rows is
        visible then.
        """
        video = {**video, "ingest_id": self.ingest_id}
        video_id = str(video["video_id"])
        with self.archive.lock():
            old = self._row(video_id)
            if old is not None and not replace:
                self.discard()
                self._learn(old, video)
                return Published(video_id, str(old["ingest_id"]), ours=False)
            if old is not None:
                paths = [*(old["aliases"] or []), *(video.get("aliases") or [])]
                video["aliases"] = list(dict.fromkeys(paths))
            self._flush()
            self._spilled.clear()  # from here on an interrupt must not delete what may be live
            self.archive.store.upsert("videos", [video], "video_id")
            if old is not None:
                with suppress(ArchiveError):  # invisible by now; compaction removes them too
                    self._delete(str(old["ingest_id"]))
        self.discard()
        return Published(video_id, self.ingest_id, ours=True)

    def copy_twin(self, from_video_id: str, video: VideoRow) -> Published:
        """Publish a video whose scenes, pictures and vectors are those of another one.

        Subtitles come with the file, so they are not copied: stage the new file's own.
        """
        video_id = str(video["video_id"])
        store = self.archive.store
        with self.archive.lock():
            twin = self._row(from_video_id)
            if twin is None:
                raise BindError(f"no video {from_video_id!r} to copy from")
            where = f"ingest_id = {quote(str(twin['ingest_id']))}"
            for table in [*INGESTED, *self._embedding_tables()]:
                rows = store.read(table, where=where)
                owner = pa.array([video_id] * len(rows), pa.string())
                rows = rows.set_column(rows.column_names.index("video_id"), "video_id", owner)
                self._stage(table, store.schema(table), rows)
            return self.publish(video)

    # -- changes to videos that are there

    def put_vectors(
        self, video_id: str, vectors: Vectors, embedder: str, ingest_id: str | None = None
    ) -> int:
        """Give a video that is there the vectors of another space, in the place of any it has
        in it, and note the embedder; gives how many were left out. For `reel reindex`.

        Raises BindError where the video is not there, or not of the ingest that is given.
        """
        store, table = self.archive.store, space_table(vectors.space)
        rows, left_out = vector_rows(video_id, vectors)
        with self.archive.lock():
            row = self._row(video_id)
            if row is None:
                raise self._unknown(video_id)
            if ingest_id not in (None, row["ingest_id"]):
                raise BindError(f"{row['name']}: was indexed anew meanwhile; run this again")
            store.create(table, rows.schema)
            stamp = pa.array([row["ingest_id"]] * len(rows), pa.string())
            self._delete(str(row["ingest_id"]), [table])
            store.append(table, rows.set_column(1, "ingest_id", stamp))
            store.upsert("videos", [{**row, "embedder": embedder}], "video_id")
        return left_out

    def drop_vectors(self, space: str) -> None:
        """Remove all vectors of a space; its empty table stays."""
        if space_table(space) in self._embedding_tables():
            with self.archive.lock():
                self.archive.store.delete(space_table(space), "true")

    def mark_paths(
        self,
        video_id: str,
        seen: Sequence[str] = (),
        gone: Iterable[str] = (),
        missing: bool | None = None,
    ) -> None:
        """Note where a video's file was seen, newest last, and which paths no longer hold it.

        `path` and `name` become those of the newest path that is not gone; without one they
        stay and the video counts as missing, unless `missing` says otherwise. Name in `gone`
        every alias that no longer holds the file: nothing here looks at the disk.
        """
        lost = set(gone)
        with self.archive.lock():
            row = self._row(video_id)
            if row is None:
                raise self._unknown(video_id)
            known = [p for p in row["aliases"] or [] if p not in seen]
            aliases = [*known, *dict.fromkeys(seen)]
            # a path is there if it was just seen, or was the current one and is not gone
            there = [p for p in aliases if p not in lost and (p in seen or not row["missing"])]
            path = there[-1] if there else row["path"]
            changed = {
                "aliases": aliases,
                "path": path,
                "name": PurePath(path).name if path else row["name"],
                "missing": (not there) if missing is None else missing,
            }
            if any(row[k] != v for k, v in changed.items()):
                self.archive.store.upsert("videos", [{**row, **changed}], "video_id")

    def remove(self, video_id: str, purge: bool = False) -> None:
        """Remove a video; with `purge` also what models said about content no other video has."""
        store = self.archive.store
        with self.archive.lock():
            row = self._row(video_id)
            if row is None:
                raise self._unknown(video_id)
            store.delete("videos", f"video_id = {quote(video_id)}")
            self._delete(str(row["ingest_id"]))
            if purge:
                self._purge(row)

    def _purge(self, row: VideoRow) -> None:
        """Delete the ledger rows of content and sound that no live video shares.

        `tool_runs` goes first: found rows count only where their look is on record.
        """
        store = self.archive.store
        left = store.read("videos", ["content_id", "sound_id"])
        shared = {*left["content_id"].to_pylist(), *left["sound_id"].to_pylist()}
        doomed = [str(row[n]) for n in ("content_id", "sound_id") if row[n] not in {*shared, None}]
        if doomed:
            for table in ("tool_runs", "captions", "ocr", "objects", "actions"):
                store.delete(table, any_of("content_id", doomed))
            store.delete("speech", f"ingest_id IS NULL AND {any_of('source_id', doomed)}")
        for table in ("entity_mentions", "entities"):
            store.delete(table, f"video_id = {quote(str(row['video_id']))}")

    # -- helpers; the caller holds the lock

    def _row(self, video_id: str) -> VideoRow | None:
        rows = self.archive.store.read("videos", where=f"video_id = {quote(video_id)}").to_pylist()
        return max(rows, key=lambda r: r["added_at"] or datetime.min) if rows else None

    def _learn(self, old: VideoRow, new: VideoRow) -> None:
        """The video is there already: keep it, and note the path it was found at this time."""
        seen = [p for p in [*(new.get("aliases") or []), new.get("path")] if p]
        if seen:
            self.mark_paths(str(old["video_id"]), seen)

    def _embedding_tables(self) -> list[str]:
        return [t for t in self.archive.store.tables() if t.startswith(EMBEDDINGS)]

    def _delete(self, ingest_id: str, tables: Iterable[str] | None = None) -> None:
        where = f"ingest_id = {quote(ingest_id)}"
        for table in tables or [*INGESTED, "speech", *self._embedding_tables()]:
            self.archive.store.delete(table, where)

    def _unknown(self, video_id: str) -> BindError:
        known = self.archive.store.read("videos", ["name"])["name"].to_pylist()
        return BindError(f"no video {video_id!r}: {near(video_id, known)}")


def vector_rows(video_id: str, vectors: Vectors) -> tuple[pa.Table, int]:
    """Rows of an embeddings table without their ingest, and how many vectors were left out
    because they hold NaN or infinity. Raises SchemaError where times and vectors do not pair."""
    times_s, matrix = np.asarray(vectors.times_s, np.float64), vectors.matrix
    with np.errstate(over="ignore"):  # beyond float16 is infinity, and left out
        matrix = matrix.astype(np.float16)
    if matrix.ndim != 2 or len(times_s) != len(matrix):
        raise SchemaError(f"vectors of shape {matrix.shape} for {len(times_s)} times")
    good = np.asarray(np.isfinite(matrix).all(axis=1))
    kept = np.ascontiguousarray(matrix[good])
    count, dim = kept.shape
    columns = [
        pa.array([video_id] * count, pa.string()),
        pa.nulls(count, pa.string()),
        pa.array(times_s[good]),
        pa.array([vectors.space] * count, pa.string()),
        pa.FixedSizeListArray.from_arrays(pa.array(kept.reshape(-1)), dim),
    ]
    return pa.table(columns, schema=embeddings_schema(vectors.space, dim)), len(good) - count
