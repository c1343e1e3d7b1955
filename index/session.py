"""SQL over Arrow tables: an in-memory DuckDB that can reach nothing else.

The only module that touches DuckDB. The connection is locked from its first moment: no
file, no network, no extension, no setting, no Python variable, bounded memory, no temp
directory. What DuckDB cannot refuse (`repeat('x', 3e9)`, `pg_sleep`, CREATE TABLE) is
refused before, by the allow-list of `query`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
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
        with self._one_at_a_time, self._told(), _limit(self._connection, timeout_s) as timer:
            try:
                statements = self._connection.extract_statements(sql)
                if len(statements) != 1:
                    raise ExecuteError(f"one statement at a time, not {len(statements)}")
                if statements[0].type != duckdb.StatementType.SELECT:
                    raise ExecuteError("not a SELECT: a statement can read and nothing else")
                used = {n: (params or {})[n] for n in statements[0].named_parameters}
                relation = self._connection.sql(sql, params=used)
                assert relation is not None, "a SELECT has rows"
                return relation.to_arrow_table()
            except KeyError as e:
                raise ExecuteError(f"no value for the parameter ${e.args[0]}") from None
            except (duckdb.InterruptException, RuntimeError) as e:
                if timer.fired:
                    raise TimeoutExceeded(
                        f"stopped after {timeout_s:g} s, the time limit of a statement; ask for "
                        "less, or SET statement_timeout"
                    ) from None
                if isinstance(e, duckdb.InterruptException) or "interrupt" in str(e).lower():
                    raise KeyboardInterrupt from None
                raise

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


class _Timer:
    """Interrupts a connection when its time is up, again and again until the statement ends."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, timeout_s: float) -> None:
        self.fired = False
        self._done = threading.Event()
        self._connection = connection
        self._timeout_s = timeout_s
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        wait_s = self._timeout_s
        while not self._done.wait(wait_s):
            self.fired, wait_s = True, AGAIN_S
            self._connection.interrupt()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """After this no interrupt comes any more, so none can hit the next statement."""
        self._done.set()
        self._thread.join()


@contextmanager
def _limit(connection: duckdb.DuckDBPyConnection, timeout_s: float | None) -> Iterator[_Timer]:
    timer = _Timer(connection, timeout_s if timeout_s is not None else 0.0)
    if timeout_s is None:
        yield timer
        return
    timer.start()
    try:
        yield timer
    finally:
        timer.stop()


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
