"""A snapshot: one moment of all tables, for the whole of a statement.

Readers never lock. The versions of all tables are read twice until both readings agree,
which is a moment that really was; a commit that is half done at that moment is invisible,
because writers name its rows in `videos` (or `tool_runs`) last. Relations are built once a
version and kept on the archive, so statements on an unchanged archive share them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reeldb.index.assemble import (
    Assembled,
    Ints,
    Live,
    finish,
    first_of_each,
    newest,
    owned,
    positions,
    shared,
    whole,
)
from reeldb.index.clock import moved
from reeldb.index.spaces import EMBEDDINGS
from reeldb.schema.errors import ArchiveError, BindError, near, shown
from reeldb.schema.relations import RELATIONS, Relation
from reeldb.schema.tables import HEAVY, TABLES

if TYPE_CHECKING:
    from reeldb.index.archive import Archive


LOOKED = {"ocr": "content_id", "objects": "content_id", "actions": "content_id"}
T = TypeVar("T")


class Snapshot:
    """Rows of one moment. Any reading method raises VersionGone if compaction removed it
    meanwhile; `Archive.read` then starts again on a fresh one."""

    def __init__(self, archive: Archive, versions: dict[str, int]) -> None:
        self.archive = archive
        self.versions = versions

    @classmethod
    def now(cls, archive: Archive) -> Snapshot:
        before = archive.store.versions()
        for _ in range(1000):
            after = archive.store.versions()
            if after == before:
                return cls(archive, after)
            before = after
        raise ArchiveError(f"{archive.path}: too many writers at once; try again")

    # -- videos

    @property
    def videos(self) -> pa.Table:
        """The live videos, all light columns as stored, in (name, video_id) order."""
        return self.live.videos

    @cached_property
    def live(self) -> Live:
        return self._kept("live", ["videos"], lambda: Live.of(self.rows("videos")))

    def find_video(self, name_or_id: str) -> str:
        """The id of the video of this name or id. Raises BindError where none or several fit."""
        ids, names = self.live.video_ids, self.live.names
        if pc.index(ids, name_or_id).as_py() >= 0:
            return name_or_id
        named = ids.filter(pc.equal(names, name_or_id)).to_pylist()
        if len(named) == 1:
            return str(named[0])
        if not named:
            known = names.to_pylist()
            cure = near(name_or_id, known) if len(known) <= 1000 else "`reel ls` lists them"
            raise BindError(f"no video {name_or_id!r}: {cure if known else 'the archive is empty'}")
        paths = whole(self.videos["path"]).filter(pc.equal(names, name_or_id)).to_pylist()
        each = "; ".join(f"{i} ({shown(p)})" for i, p in zip(named, paths, strict=True))
        raise BindError(f"{len(named)} videos are called {name_or_id!r}, give the id: {each}")

    def spaces(self) -> dict[str, int]:
        """Embedding space -> dimension, of every space the archive has vectors in."""
        out = {}
        for table in self.embedding_tables():
            if self.archive.store.count(table, version=self.versions[table]):
                meta = self.archive.store.schema(table).metadata
                out[meta[b"space"].decode()] = int(meta[b"dim"])
        return out

    def embedding_tables(self) -> list[str]:
        return [t for t in self.versions if t.startswith(EMBEDDINGS)]

    # -- relations

    def relation(self, name: str) -> pa.Table:
        """The stored columns of a relation in their order, rows in key order."""
        return self.assembled(name).table

    def ranks(self, name: str) -> Ints:
        """The row of `videos` that each row of the relation belongs to."""
        return self.assembled(name).rank

    def assembled(self, name: str) -> Assembled:
        if name not in RELATIONS:
            raise BindError(f"no relation {name!r}: {near(name, RELATIONS)}")
        return self._kept(name, self._sources(name), lambda: self._build(RELATIONS[name]))

    def heavy(self, name: str, column: str, rows: NDArray[np.int64] | None = None) -> pa.Array:
        """A heavy column of `relation(name)`, aligned to its rows or to the row numbers given."""
        relation = RELATIONS[name]
        if column not in relation.names("heavy"):
            raise BindError(f"{name} has no heavy column {column!r}")
        built = self.assembled(name)
        at = np.arange(len(built.rank)) if rows is None else np.asarray(rows, np.int64)
        if name == "embeddings":
            return self._vectors(built, at)
        return whole(self._take(name, built.row_id[at], column)) if len(at) else (
            pa.array([], TABLES[name].field(column).type)
        )  # fmt: skip

    def _vectors(self, built: Assembled, at: NDArray[np.int64]) -> pa.Array:
        """Vectors as lists: the spaces of one archive may differ in width."""
        kind, pieces, places = pa.list_(pa.float32()), [], []
        for part, table in enumerate(self.embedding_tables()):
            mine = np.flatnonzero(built.part[at] == part)
            if len(mine):
                taken = self._take(table, built.row_id[at[mine]], "vector")
                pieces.append(whole(taken).cast(kind))
                places.append(mine)
        if not pieces:
            return pa.array([], kind)
        return pa.concat_arrays(pieces).take(pa.array(np.argsort(np.concatenate(places))))

    def _take(self, table: str, row_ids: NDArray[np.uint64], column: str) -> pa.ChunkedArray:
        version = self.versions[table]
        return self.archive.store.take(table, pa.array(row_ids), [column], version)[column]

    def rows(self, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """The stored rows of a table at this moment, live or not, heavy columns left out."""
        heavy = HEAVY.get(table, set()) | {"vector"}
        names = columns or [n for n in self._schema(table).names if n not in heavy]
        return self.archive.store.read(
            table, names, version=self._version(table), row_ids=columns is None
        )

    def _schema(self, table: str) -> pa.Schema:
        return TABLES[table] if table in TABLES else self.archive.store.schema(table)

    def _version(self, table: str) -> int:
        if table not in self.versions:
            raise ArchiveError(
                f"{self.archive.path}: the table {table} is missing; restore {table}.lance from "
                "a copy, or add the videos to a new archive"
            )
        return self.versions[table]

    def _kept(self, name: str, tables: Sequence[str], make: Callable[[], T]) -> T:
        key = tuple((t, self._version(t)) for t in tables)
        return self.archive.remember(name, key, make)

    def _sources(self, name: str) -> list[str]:
        """The tables whose versions decide a relation's rows."""
        if name == "answers":
            return ["answers"]
        if name == "embeddings":
            return ["videos", *self.embedding_tables()]
        runs = ["tool_runs"] if name in LOOKED or name == "speech" else []
        return list(dict.fromkeys(["videos", name, *runs]))

    # -- how each relation comes about

    def _build(self, relation: Relation) -> Assembled:
        name, live = relation.name, self.live
        if name == "videos":
            rank = np.arange(len(live.videos))
            return finish(relation, live.videos, rank, live)
        if name in ("scenes", "frames"):
            return finish(relation, *owned(self.rows(name), live), live)
        if name in ("entities", "entity_mentions"):
            return finish(relation, *owned(self.rows(name), live, "video_id"), live)
        if name == "embeddings":
            return self._embeddings(relation)
        if name == "captions":
            rows = newest(self.rows("captions"))
            return finish(relation, *shared(rows, live, "content_id", ["content_id"]), live)
        if name == "tool_runs":
            ids = ["content_id", "sound_id"]  # sound is looked at as well
            return finish(relation, *shared(newest(self.rows(name)), live, "content_id", ids), live)
        if name in LOOKED:
            return self._looks(relation)
        if name == "speech":
            return self._speech(relation)
        rows = self.rows(name)  # answers: they belong to no video
        return finish(relation, rows, np.zeros(len(rows), np.int64), live)

    def _embeddings(self, relation: Relation) -> Assembled:
        tables, ranks, parts = [], [], []
        for part, table in enumerate(self.embedding_tables()):
            rows, rank = owned(self.rows(table), self.live)
            tables.append(rows.replace_schema_metadata(None))
            ranks.append(rank)
            parts.append(np.full(len(rows), part, np.int32))
        if not tables:
            empty = pa.table(
                {"t_s": pa.array([], pa.float64()), "space": pa.array([], pa.string())}
            )
            return finish(relation, empty, np.zeros(0, np.int64), self.live)
        rank, part_of = np.concatenate(ranks), np.concatenate(parts)
        return finish(relation, pa.concat_tables(tables), rank, self.live, part_of)

    def _looked(self, rows: pa.Table) -> pa.Table:
        """Found rows whose look is on record as `ok`, once per (key, line)."""
        runs = self.rows("tool_runs", ["key", "status"])
        done = pc.unique(runs.filter(pc.equal(runs["status"], "ok"))["key"])
        rows = rows.filter(pa.array(positions(rows["key"], done) >= 0))
        ordered = rows.sort_by([("key", "ascending"), ("line_no", "ascending")])
        return first_of_each(ordered, "key", "line_no")

    def _looks(self, relation: Relation) -> Assembled:
        rows = self._looked(self.rows(relation.name))
        if "t_ms" in rows.column_names:
            rows = rows.append_column("t_s", pc.divide(rows["t_ms"].cast(pa.float64()), 1000.0))
        column = LOOKED[relation.name]
        return finish(relation, *shared(rows, self.live, column, [column]), self.live)

    def _speech(self, relation: Relation) -> Assembled:
        """Subtitles belong to a file's ingest, transcripts to a sound that files may share."""
        rows = self.rows("speech")
        cues, cue_rank = owned(rows.filter(pc.is_valid(rows["ingest_id"])), self.live)
        heard = self._looked(rows.filter(pc.is_null(rows["ingest_id"])))
        said, said_rank = self._placed(*shared(heard, self.live, "source_id", ["sound_id"]))
        rank = np.concatenate([cue_rank, said_rank])
        return finish(relation, pa.concat_tables([cues, said]), rank, self.live)

    def _placed(self, rows: pa.Table, rank: Ints) -> tuple[pa.Table, Ints]:
        """Transcripts on the clocks of their videos, without what lies before or after them."""
        starts, durations = (
            np.nan_to_num(np.asarray(self.videos[n].to_numpy(), np.float64)[rank])
            for n in ("sound_start_s", "duration_s")
        )
        start_s, end_s = (moved(rows[n].to_numpy(), starts) for n in ("start_s", "end_s"))
        at = {"start_s": np.maximum(start_s, 0.0), "end_s": np.minimum(end_s, durations)}
        for name, values in at.items():
            column = pa.array(values, from_pandas=True)  # NaN is NULL
            rows = rows.set_column(rows.column_names.index(name), name, column)
        kept = ~(end_s <= 0) & ~(start_s >= durations)
        return rows.filter(pa.array(kept)), rank[kept]
