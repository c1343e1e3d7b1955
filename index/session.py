"""SQL over Arrow tables: an in-memory DuckDB that can reach nothing else.

The only module that touches DuckDB. The connection is locked from its first moment: no
file, no network, no extension, no setting, no Python variable, bounded memory, no temp
directory. What DuckDB cannot refuse (`repeat('x', 3e9)`, `pg_sleep`, CREATE TABLE) is
refused before, by the allow-list of `query`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from reeldb.schema.errors import ArchiveError, ExecuteError, TimeoutExceeded

AGAIN_S = 0.1  # an interrupt that comes before DuckDB has started is lost: repeat it


class Session:
    """One locked connection. Statements of several threads run one after the other."""

    def __init__(self, memory_mb: int = 2048, threads: int | None = None) -> None:
        self.memory_mb = memory_mb
        self._one_at_a_time = threading.RLock()
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "enable_external_access": "false",
                "python_enable_replacements": "false",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_community_extensions": "false",
                "temp_directory": "",
                "memory_limit": f"{memory_mb}MiB",
                "threads": str(threads or os.cpu_count() or 1),
                "lock_configuration": "true",
            },
        )

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def register(self, name: str, table: pa.Table) -> None:
        """Make an Arrow table known under a name, in place of what had it before.

        Plain types only: DuckDB cannot take half floats or dictionaries of some kinds.
        """
        with self._one_at_a_time, self._told():
            self._connection.register(name, table)

    def unregister(self, name: str) -> None:
        with self._one_at_a_time, self._told():
            self._connection.unregister(name)

    def run(
        self, sql: str, params: Mapping[str, Any] | None = None, timeout_s: float | None = None
    ) -> pa.Table:
        """The rows of one SELECT. Parameters are named (`$name`); spare ones are not passed.

        Raises ExecuteError in one line, TimeoutExceeded after `timeout_s`, and
        KeyboardInterrupt on Ctrl-C; the session goes on working after each of them.
        """
        with self._one_at_a_time, self._told():
            query = _Query(lambda: self._rows(sql, params or {}))
            try:
                if query.done.wait(timeout_s):
                    return query.result()
            except BaseException:  # Ctrl-C, which DuckDB itself does not always notice
                self._stop(query)
                raise
            self._stop(query)
            raise TimeoutExceeded(
                f"stopped after {timeout_s:g} s, the time limit of a statement; ask for less, or "
                "SET statement_timeout"
            )

    def _rows(self, sql: str, params: Mapping[str, Any]) -> pa.Table:
        statements = self._connection.extract_statements(sql)
        if len(statements) != 1:
            raise ExecuteError(f"one statement at a time, not {len(statements)}")
        if statements[0].type != duckdb.StatementType.SELECT:
            raise ExecuteError("not a SELECT: a statement can read and nothing else")
        missing = sorted(n for n in statements[0].named_parameters if n not in params)
        if missing:
            raise ExecuteError(f"no value for the parameter ${missing[0]}")
        used = {n: params[n] for n in statements[0].named_parameters}
        relation = self._connection.sql(sql, params=used)
        assert relation is not None, "a SELECT has rows"
        return relation.to_arrow_table()

    def _stop(self, query: _Query) -> None:
        """Interrupt until the query has ended, so that no interrupt hits the next one."""
        while True:
            self._connection.interrupt()
            if query.done.wait(AGAIN_S):
                return

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except duckdb.OutOfMemoryException as e:
            raise ExecuteError(
                f"the statement needs more than {self.memory_mb} MB of memory; ask for fewer "
                "rows, or fewer columns"
            ) from e
        except duckdb.Error as e:
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


def one_line(text: str) -> str:
    """DuckDB's message without its drawing of the statement.

    >>> one_line("Binder Error: no column x\\nDid you mean y?\\n\\nLINE 1: SELECT x")
    'no column x Did you mean y?'
    """
    head = text.split("\n\n")[0].split("\nLINE ")[0]
    kind, colon, rest = head.partition(": ")
    if colon and kind.endswith("Error"):
        head = rest
    return " ".join(head.split())


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
