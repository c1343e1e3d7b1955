"""From stored rows to the rows of a relation: live only, sorted, once each.

All work is done on whole columns (numpy and pyarrow), never on rows in Python: a million
scenes take well under two seconds. A video's *rank* is its place in the order of
(name, video_id); rows carry ranks until the very end, when names and ids are looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reeldb.schema.relations import Relation

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Live:
    """The live videos in (name, video_id) order: what decides which rows count."""

    videos: pa.Table

    @classmethod
    def of(cls, rows: pa.Table) -> Live:
        """From the rows of the `videos` table; of two rows of one video the newest counts."""
        by_age = rows.take(
            pc.sort_indices(rows, sort_keys=[("video_id", "ascending"), ("added_at", "descending")])
        )
        ordered = first_of_each(by_age, "video_id").sort_by(
            [("name", "ascending"), ("video_id", "ascending")]
        )
        light = [n for n in ordered.column_names if n != "_rowid"]
        return cls(ordered.select(light).combine_chunks())

    @cached_property
    def video_ids(self) -> pa.Array:
        return whole(self.videos["video_id"])

    @cached_property
    def names(self) -> pa.Array:
        return whole(self.videos["name"])

    @cached_property
    def ingest_ids(self) -> pa.Array:
        return whole(self.videos["ingest_id"])


@dataclass(frozen=True)
class Assembled:
    """A relation's rows, with what it takes to find their heavy columns again.

    `rank` and `row_id` are aligned to the rows; `part` tells which stored table a row came
    from where there are several.
    """

    table: pa.Table
    rank: Ints
    row_id: NDArray[np.uint64]
    part: NDArray[np.int32]


def whole(column: pa.ChunkedArray) -> pa.Array:
    """The column as one array."""
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def positions(values: pa.ChunkedArray, known: pa.Array) -> Ints:
    """Where each value is in `known`; -1 where it is not, and for NULL."""
    found = pc.index_in(values, value_set=known, skip_nulls=True)
    return np.asarray(pc.fill_null(found, -1).to_numpy(), np.int64)


def first_of_each(rows: pa.Table, *key: str) -> pa.Table:
    """Of adjacent rows with equal keys the first; the rows are sorted by the key."""
    if len(rows) < 2:
        return rows
    same = np.ones(len(rows) - 1, np.bool_)
    for name in key:
        column = whole(rows[name])
        equal = pc.equal(column.slice(1), column.slice(0, len(rows) - 1))
        same &= pc.fill_null(equal, False).to_numpy(zero_copy_only=False)
    return rows if not same.any() else rows.filter(pa.array(np.concatenate([[True], ~same])))


def owned(rows: pa.Table, live: Live, by: str = "ingest_id") -> tuple[pa.Table, Ints]:
    """The rows of live ingests (or videos) and their ranks."""
    known = live.ingest_ids if by == "ingest_id" else live.video_ids
    rank = positions(rows[by], known)
    kept = rank >= 0
    return (rows, rank) if kept.all() else (rows.filter(pa.array(kept)), rank[kept])


def shared(rows: pa.Table, live: Live, column: str, ids: Sequence[str]) -> tuple[pa.Table, Ints]:
    """The rows whose `column` is one of the live videos' `ids` (names of video columns).

    A row whose content two videos share appears once under each.
    """
    ranks = np.tile(np.arange(len(live.videos)), len(ids))
    owners = pa.concat_arrays([whole(live.videos[name]) for name in ids])
    pairs = pa.table({"id": owners, "rank": ranks}).filter(pc.is_valid(owners))
    pairs = pairs.group_by(["id", "rank"]).aggregate([]).sort_by([("id", "ascending")])
    unique = pc.unique(pairs["id"])
    slot = positions(pairs["id"], unique)
    start = np.searchsorted(slot, np.arange(len(unique) + 1))

    at = positions(rows[column], unique)
    kept = np.flatnonzero(at >= 0)
    at = at[kept]
    copies = (start[at + 1] - start[at]).astype(np.int64)
    source = np.repeat(kept, copies)
    nth = np.arange(len(source)) - np.repeat(np.cumsum(copies) - copies, copies)
    rank = np.asarray(pairs["rank"].to_numpy(), np.int64)[np.repeat(start[at], copies) + nth]
    return (
        rows if np.array_equal(source, np.arange(len(rows))) else rows.take(pa.array(source))
    ), rank


def newest(rows: pa.Table) -> pa.Table:
    """Of the ledger rows of one key the one that counts: not failed, then newest."""
    if pc.count_distinct(rows["key"]).as_py() == len(rows):
        return rows
    failed = pc.equal(rows["status"], "failed")
    ranked = rows.append_column("_failed", failed).sort_by(
        [("key", "ascending"), ("_failed", "ascending"), ("created_at", "descending")]
    )
    return first_of_each(ranked, "key").drop_columns(["_failed"])


def finish(
    relation: Relation,
    rows: pa.Table,
    rank: Ints,
    live: Live,
    part: NDArray[np.int32] | None = None,
) -> Assembled:
    """The relation's stored columns in their order, rows in key order."""
    part = np.zeros(len(rows), np.int32) if part is None else part
    order = _order(rows, rank, relation.order)
    if order is not None:
        rows, rank, part = rows.take(pa.array(order)), rank[order], part[order]
    at = pa.array(rank)
    columns = {}
    for column in relation.columns:
        if column.kind != "stored":
            continue
        if column.name == "video":
            columns["video"] = live.names.take(at)
        elif column.name == "video_id":
            columns["video_id"] = live.video_ids.take(at)
        else:
            columns[column.name] = whole(rows[column.name])
    row_id = rows["_rowid"].to_numpy() if "_rowid" in rows.column_names else np.arange(len(rows))
    return Assembled(pa.table(columns), rank, np.asarray(row_id, np.uint64), part)


def _order(rows: pa.Table, rank: Ints, names: Sequence[str]) -> Ints | None:
    """The permutation to (rank, *names) order, or None where the rows lie so already."""
    keys = pa.table({"_rank": rank, **{n: rows[n] for n in names}})
    order = pc.sort_indices(keys, sort_keys=[(n, "ascending") for n in keys.column_names])
    order = np.asarray(order.to_numpy(), np.int64)
    return None if np.array_equal(order, np.arange(len(order))) else order
