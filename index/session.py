"""SQL over Arrow tables: an in-memory DuckDB that can reach nothing else.

The only module that touches DuckDB. The connection is locked from its first moment: no
file, no network, no extension, no setting, no Python variable, bounded memory, no temp
directory. What DuckDB cannot refuse (`repeat('x', 3e9)`, `pg_sleep`, CREATE TABLE) is
refused before, by the allow-list of `query`.

DuckDB's memory limit counts neither the rows of a result nor what a function takes while it
works (`damerau_levenshtein`), and an interrupt is not noticed inside one call. So a result has
a limit of its own, the growth of the process is watched while a statement runs, and a
statement that does not stop is left behind with its connection.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from reeldb.schema.errors import ArchiveError, ExecuteError, TimeoutExceeded

AGAIN_S = 0.1  # an interrupt that comes before DuckDB has started is lost: repeat it
PATIENCE_S = 3.0  # how long a stopped statement may take to notice
BATCH_ROWS = 2_048  # DuckDB's own vector: rows can be wide
_MB = 1 << 20
_BROKEN = (duckdb.InternalException, duckdb.FatalException)  # later calls may fail too
_ADVICE = re.compile(r"(?<=\.) [^.]*(TRY\(\.\.\.\)[^.]*)?\bSET [a-z_]+ ?(=|TO)[^.]*\.?$")


class Session:
    """One locked connection. Statements of several threads run one after the other.

    `memory_mb` is DuckDB's limit; a result may take a quarter of it besides.
    """

    def __init__(self, memory_mb: int = 2048, threads: int | None = None) -> None:
        self.memory_mb, self.threads = memory_mb, threads or os.cpu_count() or 1
        self._one_at_a_time = threading.RLock()
        self._tables: dict[str, pa.Table] = {}
        self._connection = self._connect()

    def _connect(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(
            ":memory:",
            config={
                "enable_external_access": "false",
                "python_enable_replacements": "false",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_community_extensions": "false",
                "temp_directory": "",
                "memory_limit": f"{self.memory_mb}MiB",
                "threads": str(self.threads),
            },
        )
        connection.execute("SET enable_progress_bar = false")  # it prints
        connection.execute("SET lock_configuration = true")
        return connection

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()
        self._tables.clear()

    def register(self, name: str, table: pa.Table) -> None:
        """Make an Arrow table known under a name, in place of what had it before.

        Plain types only: DuckDB cannot take half floats or dictionaries of some kinds.
        """
        with self._one_at_a_time, self._told():
            self._connection.register(name, table)
            self._tables[name] = table

    def unregister(self, name: str) -> None:
        with self._one_at_a_time, self._told():
            self._connection.unregister(name)
            self._tables.pop(name, None)

    def run(
        self, sql: str, params: Mapping[str, Any] | None = None, timeout_s: float | None = None
    ) -> pa.Table:
        """The rows of one SELECT. Parameters are named (`$name`); spare ones are not passed.

        Raises ExecuteError in one line, TimeoutExceeded after `timeout_s`, and
        KeyboardInterrupt on Ctrl-C; the session goes on working after each of them.
        """
        with self._one_at_a_time, self._told():
            connection = self._connection
            query = _Query(lambda: self._rows(connection, sql, params or {}))
            try:
                self._wait(query, timeout_s)
            except BaseException:  # Ctrl-C too, which DuckDB itself does not always notice
                self._stop(query)
                raise
            try:
                return query.result()
            except _BROKEN:
                self._renew()
                raise

    def _wait(self, query: _Query, timeout_s: float | None) -> None:
        """Until the query has ended. Raises where its time or its memory has."""
        start, room = time.monotonic(), self.memory_mb * _MB * 9 // 8 + 256 * _MB
        before = resident_bytes()
        while True:
            left = AGAIN_S
            if timeout_s is not None:
                left = min(left, timeout_s - (time.monotonic() - start))
            if query.done.wait(max(0.0, left)):
                return
            if resident_bytes() - before > room:
                raise self._too_large()
            if timeout_s is not None and time.monotonic() - start >= timeout_s:
                raise TimeoutExceeded(
                    f"stopped after {timeout_s:g} s, the time limit of a statement; ask for "
                    "less, or SET statement_timeout"
                )

    def _rows(
        self, connection: duckdb.DuckDBPyConnection, sql: str, params: Mapping[str, Any]
    ) -> pa.Table:
        statements = connection.extract_statements(sql)
        if len(statements) != 1:
            raise ExecuteError(f"one statement at a time, not {len(statements)}")
        if statements[0].type != duckdb.StatementType.SELECT:
            raise ExecuteError("not a SELECT: a statement can read and nothing else")
        missing = sorted(n for n in statements[0].named_parameters if n not in params)
        if missing:
            raise ExecuteError(f"no value for the parameter ${missing[0]}")
        used = {n: params[n] for n in statements[0].named_parameters}
        relation = connection.sql(sql, params=used)
        assert relation is not None, "a SELECT has rows"
        reader = relation.to_arrow_reader(BATCH_ROWS)
        try:
            return self._collected(reader)
        finally:
            reader.close()

    def _collected(self, reader: pa.RecordBatchReader) -> pa.Table:
        most = self.memory_mb * _MB // 4
        batches, size = [], 0
        for batch in reader:
            size += batch.nbytes
            if size > most:
                raise ExecuteError(
                    f"the result is larger than {most // _MB} MB; ask for fewer rows (LIMIT), or "
                    "fewer columns"
                )
            batches.append(batch)
        return pa.Table.from_batches(batches, reader.schema)

    def _stop(self, query: _Query) -> None:
        """Interrupt until the query has ended, so that no interrupt hits the next one.

        One that does not end keeps its connection to itself, and this session takes another.
        """
        connection, end = self._connection, time.monotonic() + PATIENCE_S
        try:
            while time.monotonic() < end and not query.done.is_set():
                connection.interrupt()
                query.done.wait(AGAIN_S)
        finally:
            if not query.done.is_set():
                self._renew()
                threading.Thread(target=_leave, args=(connection, query), daemon=True).start()

    def _renew(self) -> None:
        """Another connection with the same tables."""
        self._connection = self._connect()
        for name, table in self._tables.items():
            self._connection.register(name, table)

    def _too_large(self) -> ExecuteError:
        return ExecuteError(
            f"the statement needs more than {self.memory_mb} MB of memory; ask for fewer rows, "
            "or fewer columns"
        )

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except duckdb.OutOfMemoryException as e:
            raise self._too_large() from e
        except _BROKEN as e:
            raise ExecuteError(f"DuckDB broke on this statement: {one_line(str(e))}") from e
        except (duckdb.Error, pa.ArrowException, OSError) as e:  # the latter from batches
            if "Out of Memory" in str(e):
                raise self._too_large() from e
            raise ExecuteError(one_line(str(e))) from e


class _Query:
    """A query in a thread of its own, so that the caller can stop waiting for it."""

    def __init__(self, work: Callable[[], pa.Table]) -> None:
        self.done = threading.Event()
        self._work = work
        self._rows: pa.Table = None
        self._error: BaseException | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self._rows = self._work()
        except BaseException as e:
            self._error = e
        finally:
            self.done.set()

    def result(self) -> pa.Table:
        if self._error is not None:
            raise self._error
        return self._rows


def _leave(connection: duckdb.DuckDBPyConnection, query: _Query) -> None:
    """Waits for a query that nobody waits for any more, and closes its connection."""
    while not query.done.wait(1.0):
        connection.interrupt()
    connection.close()


def resident_bytes() -> int:
    """The memory that this process holds now; 0 where the system does not tell (not Linux)."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def one_line(text: str) -> str:
    """DuckDB's message without its drawing of the statement and its advice to SET something.

    >>> one_line("Binder Error: no column x\\nDid you mean y?\\n\\nLINE 1: SELECT x")
    'no column x Did you mean y?'
    >>> one_line("Out of Range Error: too deep. Use \\"SET max_depth TO x\\" to go deeper.")
    'too deep.'
    """
    head = text.split("\n\n")[0].split("\nLINE ")[0]
    kind, colon, rest = head.partition(": ")
    if colon and kind.lower().endswith("error"):
        head = rest
    line = " ".join(head.split())
    return _ADVICE.sub("", line)


class FileWriter:
    """An ordinary DuckDB file being written, for export. Raises ArchiveError where it cannot."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._told():
            self._connection = duckdb.connect(str(path))

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        with self._told():
            self._connection.close()

    def execute(self, sql: str, rows: pa.Table | None = None) -> None:
        """Run a statement; it may name the Arrow table as `incoming`."""
        with self._told():
            if rows is not None:
                self._connection.register("incoming", rows)
            self._connection.execute(sql)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as e:
            raise ArchiveError(f"{self.path}: export failed ({one_line(str(e))})") from e
