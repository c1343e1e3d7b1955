"""The Lance tables of an archive: rows in, rows out, by table name and version.

The only module that touches Lance. It knows nothing of videos or ingests. Writing calls do
not lock: `commit`, `ledger` and `compact` hold the writer lock around them, because Lance
itself lets two upserts of one new key both insert.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import lance
import pyarrow as pa

from reeldb.schema.errors import ArchiveError, SchemaError, VersionGone, near

SUFFIX = ".lance"
Value = str | int | float | bool
Item = TypeVar("Item")


def quote(value: Value) -> str:
    """A literal of Lance's filter language.

    >>> quote("it's"), quote(True), quote(3)
    ("'it''s'", 'true', '3')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def any_of(column: str, values: Iterable[Value]) -> str:
    """The filter "column is one of values"; false for no values.

    >>> any_of("key", ["a", "b"]), any_of("key", [])
    ("key IN ('a', 'b')", 'false')
    """
    listed = ", ".join(quote(v) for v in values)
    return f"{column} IN ({listed})" if listed else "false"


def chunks(values: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """The values in order, at most `size` at a time."""
    return (values[i : i + size] for i in range(0, len(values), size))


def shape(table: str, schema: pa.Schema, rows: pa.Table | Sequence[Mapping[str, Any]]) -> pa.Table:
    """The rows in a table's own columns and types; absent columns become NULL.

    Raises SchemaError for a column the table does not have and for values that do not fit.
    """
    try:
        if not isinstance(rows, pa.Table):
            rows = _from_dicts(schema, rows)
        unknown = [n for n in rows.column_names if n not in schema.names]
        if unknown:
            raise SchemaError(
                f"{table} has no column {unknown[0]!r}: {near(unknown[0], schema.names)}"
            )
        columns = [
            rows[f.name].cast(f.type)
            if f.name in rows.column_names
            else pa.nulls(len(rows), f.type)
            for f in schema
        ]
        return pa.table(columns, schema=schema)
    except (pa.ArrowException, TypeError, OverflowError) as e:
        raise SchemaError(f"rows do not fit the table {table}: {e}") from e


def _from_dicts(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    names = {name: None for row in rows for name in row}
    fields = [schema.field(n) if n in schema.names else pa.field(n, pa.null()) for n in names]
    known = [{n: v for n, v in row.items() if n in schema.names} for row in rows]
    return pa.Table.from_pylist(known, schema=pa.schema(fields))


@contextmanager
def _told(table: str, root: Path, doing: str) -> Iterator[None]:
    """Turn what Lance raises into one line that says what happened and what helps."""
    try:
        yield
    except (OSError, ValueError, RuntimeError, pa.ArrowException) as e:
        raise _archive_error(str(e), table, root, doing) from e


def _archive_error(text: str, table: str, root: Path, doing: str) -> ArchiveError:
    if "No space left" in text or "os error 28" in text or "Disk quota" in text:
        return ArchiveError(
            f"{root}: the disk is full, {table} was not written; what was committed before is "
            "safe: free some space and run the same command again"
        )
    if "Permission denied" in text or "Read-only file system" in text:
        return ArchiveError(
            f"{root}: cannot write here ({table}); reading works, to change the archive copy "
            "it to a place you can write"
        )
    if "Not found" in text or "not found" in text or "No such file" in text:
        return VersionGone(f"{root}: a version of {table} is gone; run the statement again")
    first = text.strip().splitlines()[0][:300] if text.strip() else "unknown error"
    return ArchiveError(
        f"{root}: {doing} {table} failed: {first}; `reel verify` checks the archive"
    )


class Store:
    """The tables under one folder. Safe to use from several threads."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._heads: dict[str, Any] = {}
        self._pinned: dict[tuple[str, int], Any] = {}
        self._guard = threading.Lock()

    # -- what is there

    def tables(self) -> list[str]:
        """The names of all tables, sorted; one that is being created at this moment is not
        there before its first version is."""
        folders = [p for p in self.root.glob(f"*{SUFFIX}") if any(p.glob("_versions/*.manifest"))]
        return sorted(p.name.removesuffix(SUFFIX) for p in folders)

    def version(self, table: str) -> int:
        """The latest version of a table."""
        with _told(table, self.root, "opening"):
            return int(self._head(table).latest_version)

    def versions(self) -> dict[str, int]:
        """The latest version of every table, each read at its own moment (see `snapshot`)."""
        return {table: self.version(table) for table in self.tables()}

    def schema(self, table: str) -> pa.Schema:
        """The Arrow schema, with its metadata."""
        with _told(table, self.root, "opening"):
            return self._head(table).schema

    def count(self, table: str, where: str | None = None, version: int | None = None) -> int:
        with _told(table, self.root, "counting"):
            return int(self._at(table, version).count_rows(where))

    # -- reading

    def read(
        self,
        table: str,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        version: int | None = None,
        *,
        row_ids: bool = False,
    ) -> pa.Table:
        """Rows in stored order; with `row_ids` a last column `_rowid` for `take`.

        Raises VersionGone where the version was cleaned away.
        """
        with _told(table, self.root, "reading"):
            dataset = self._at(table, version)
            names = None if columns is None else list(columns)
            return dataset.to_table(
                columns=names, filter=where, with_row_id=row_ids, scan_in_order=True
            )

    def batches(
        self,
        table: str,
        columns: Sequence[str],
        where: str | None = None,
        version: int | None = None,
        size: int = 8192,
    ) -> Iterator[pa.RecordBatch]:
        """The same rows as `read`, a batch at a time."""
        with _told(table, self.root, "reading"):
            dataset = self._at(table, version)
            yield from dataset.to_batches(
                columns=list(columns), filter=where, batch_size=size, scan_in_order=True
            )

    def take(
        self, table: str, row_ids: Sequence[int] | pa.Array, columns: Sequence[str], version: int
    ) -> pa.Table:
        """The rows of these `_rowid`s, in their order."""
        with _told(table, self.root, "reading"):
            ids = pa.array(row_ids, pa.uint64())
            return self._at(table, version)._take_rows(ids, columns=list(columns))

    def fragments(self, table: str, version: int) -> dict[int, int]:
        """The number of each data file, which no other ever has, and its count of deleted rows."""
        with _told(table, self.root, "opening"):
            found = self._at(table, version).get_fragments()
            return {int(f.fragment_id): int(f.num_deletions) for f in found}

    def read_fragment(
        self, table: str, fragment: int, columns: Sequence[str], version: int
    ) -> pa.Table:
        """The rows of one data file."""
        with _told(table, self.root, "reading"):
            return self._at(table, version).get_fragment(fragment).to_table(columns=list(columns))

    # -- writing; the caller holds the writer lock

    def create(self, table: str, schema: pa.Schema) -> None:
        """Make an empty table from its schema; nothing happens where it exists."""
        if table in self.tables():
            return
        with _told(table, self.root, "creating"):
            # write_dataset would do the same, and warn on stderr that the table is new
            lance.LanceDataset.commit(self._uri(table), lance.LanceOperation.Overwrite(schema, []))

    def append(self, table: str, rows: pa.Table | Sequence[Mapping[str, Any]]) -> int:
        """Add rows in one version; gives how many."""
        shaped = shape(table, self.schema(table), rows)
        if len(shaped):
            with _told(table, self.root, "writing"):
                lance.write_dataset(shaped, self._uri(table), mode="append")
        return len(shaped)

    def upsert(self, table: str, rows: pa.Table | Sequence[Mapping[str, Any]], on: str) -> None:
        """Replace the rows with the same `on`, add the others, in one version."""
        shaped = shape(table, self.schema(table), rows)
        if not len(shaped):
            return
        with _told(table, self.root, "writing"):
            merge = lance.dataset(self._uri(table)).merge_insert(on)
            merge.when_matched_update_all().when_not_matched_insert_all().execute(shaped)

    def delete(self, table: str, where: str) -> int:
        """Remove rows; gives how many. Makes no version where there are none."""
        doomed = self.count(table, where)
        if doomed:
            with _told(table, self.root, "deleting from"):
                lance.dataset(self._uri(table)).delete(where)
        return doomed

    def add_column(self, table: str, field: pa.Field) -> None:
        """Add a column of NULLs; nothing happens where it exists."""
        with _told(table, self.root, "writing"):
            dataset = lance.dataset(self._uri(table))
            if field.name not in dataset.schema.names:
                dataset.add_columns(field)

    # -- upkeep; the caller holds the writer lock

    def ragged(self, table: str) -> bool:
        """Whether the latest version is made of several files, or holds deleted rows."""
        with _told(table, self.root, "opening"):
            fragments = self._latest(table).get_fragments()
            return len(fragments) > 1 or any(f.num_deletions for f in fragments)

    def merge(self, table: str, rows_per_file: int = 1 << 20) -> None:
        """Merge small data files and drop deleted rows from them, as a new version."""
        with _told(table, self.root, "compacting"):
            lance.dataset(self._uri(table)).optimize.compact_files(
                target_rows_per_fragment=rows_per_file, materialize_deletions_threshold=0.0
            )

    def clean(self, table: str, superseded_s: float) -> int:
        """Remove versions that were superseded more than `superseded_s` ago, and the files of
        killed writers; gives the bytes freed.

        Age is counted from the *next* version's birth: a version may be old and still have
        been the newest one until just now, with readers on it.
        """
        with _told(table, self.root, "cleaning"):
            dataset = lance.dataset(self._uri(table))
            limit = datetime.now() - timedelta(seconds=superseded_s)
            versions: list[Any] = dataset.versions()
            old = [
                int(this["version"])
                for this, after in pairwise(versions)
                if after["timestamp"] < limit
            ]
            stats = dataset.cleanup_old_versions(
                versions=old or None,
                older_than=None if old else timedelta(days=36500),
                delete_unverified=True,
            )
            return int(stats.bytes_removed)

    # -- handles

    def dataset(self, table: str, version: int | None = None) -> Any:
        """The Lance dataset itself, for what only Lance can do (indices)."""
        return self._at(table, version)

    def _uri(self, table: str) -> str:
        return str(self.root / f"{table}{SUFFIX}")

    def _head(self, table: str) -> Any:
        """A kept handle of some version: enough for the schema and the newest version number."""
        with self._guard:
            if table not in self._heads:
                if not (self.root / f"{table}{SUFFIX}").is_dir():
                    raise ArchiveError(
                        f"{self.root}: the table {table} is missing; restore {table}{SUFFIX} "
                        "from a copy, or add the videos to a new archive"
                    )
                self._heads[table] = lance.dataset(self._uri(table))
            return self._heads[table]

    def _latest(self, table: str) -> Any:
        return self._at(table, int(self._head(table).latest_version))

    def _at(self, table: str, version: int | None) -> Any:
        """A handle of one version; the few last used are kept open."""
        if version is None:
            version = int(self._head(table).latest_version)
        key = (table, version)
        with self._guard:
            found = self._pinned.get(key)
        if found is not None:
            return found
        opened = self._head(table).checkout_version(version)
        with self._guard:
            for stale in [k for k in self._pinned if k[0] == table][:-3]:
                del self._pinned[stale]
            self._pinned[key] = opened
        return opened
