from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress

import duckdb
import pyarrow as pa
import pytest

from reeldb.index.session import Session, resident_bytes
from reeldb.schema.errors import ExecuteError, TimeoutExceeded
from tests.index.processes import finish, start

ENDLESS = "SELECT count(*) FROM range(1000000000) a, range(1000000) b WHERE a.range * b.range = 7"


def one(session: Session, sql: str, **params: object) -> object:
    return session.run(sql, params).column(0).to_pylist()[0]


@pytest.fixture
def session() -> Session:
    session = Session(memory_mb=256, threads=1)
    session.register("t", pa.table({"a": [1, 2, 3], "s": ["x", None, "it's"]}))
    return session


def test_it_reads_registered_tables_with_named_parameters(session: Session) -> None:
    sql = "SELECT a FROM t WHERE s = $name AND a > $least"
    rows = session.run(sql, {"name": "it's", "least": 1, "spare": object()})
    assert rows.to_pylist() == [{"a": 3}]


def test_a_table_registered_again_takes_the_place_of_the_first(session: Session) -> None:
    session.register("t", pa.table({"b": ["new"]}))
    assert one(session, "SELECT b FROM t") == "new"
    session.unregister("t")
    with pytest.raises(ExecuteError, match="t does not exist"):
        session.run("SELECT * FROM t")


def test_structs_lists_blobs_and_timestamps_can_be_filtered(session: Session) -> None:
    kind = pa.struct([("fps", pa.float64())])
    table = pa.table(
        {
            "st": pa.array([{"fps": 1.0}, None], kind),
            "l": pa.array([["a"], None]),
            "b": pa.array([b"x", None]),
            "w": pa.array([1, None], pa.timestamp("us")),
        }
    )
    session.register("u", table)
    sql = "SELECT count(*) FROM u WHERE st.fps = 1 AND l = ['a'] AND b = BLOB 'x' AND w < now()"
    assert one(session, sql) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT content FROM read_text('/etc/hostname')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/etc/host*')",
        "SELECT * FROM secret",
        "COPY (SELECT 1) TO '/tmp/reeldb-escape.csv'",
        "EXPORT DATABASE '/tmp/reeldb-escape'",
        "ATTACH '/tmp/reeldb-escape.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET memory_limit='1TB'",
        "SET lock_configuration=false",
        "SET enable_external_access=true",
        "PRAGMA database_list",
        "CREATE TABLE x (a INT)",
        "CREATE MACRO m(a) AS a",
        "SET VARIABLE v = 1",
        "CALL pragma_version()",
        "CHECKPOINT",
        "SELECT 1; SELECT 2",
        "",
        "-- nothing",
    ],
)
def test_it_refuses_everything_but_reading_its_tables(session: Session, sql: str) -> None:
    secret = pa.table({"a": [1]})
    with pytest.raises(ExecuteError) as caught:
        session.run(sql)
    assert "\n" not in str(caught.value)
    assert one(session, "SELECT count(*) FROM t") == 3
    assert len(secret) == 1


def test_its_settings_are_locked_from_the_start(session: Session) -> None:
    sql = "SELECT value FROM duckdb_settings() WHERE name = $name"
    wanted = {
        "enable_external_access": "false",
        "python_enable_replacements": "false",
        "lock_configuration": "true",
        "enable_progress_bar": "false",
        "autoload_known_extensions": "false",
        "temp_directory": "",
        "memory_limit": "256.0 MiB",
        "threads": "1",
    }
    assert {name: one(session, sql, name=name) for name in wanted} == wanted


def test_the_time_limit_stops_a_statement_and_the_session_goes_on(session: Session) -> None:
    before = time.monotonic()
    with pytest.raises(TimeoutExceeded, match=r"after 0\.2 s"):
        session.run(ENDLESS, timeout_s=0.2)
    assert time.monotonic() - before < 5
    assert session.run("SELECT 1 AS a", timeout_s=30).to_pylist() == [{"a": 1}]


def test_a_late_timer_never_stops_the_next_statement(session: Session) -> None:
    for _ in range(30):
        with suppress(TimeoutExceeded):
            session.run("SELECT count(*) FROM range(20000)", timeout_s=0.0005)
        assert one(session, "SELECT sum(range) FROM range(2000)") == 1999000


def test_too_much_memory_is_an_error_of_the_statement_only(session: Session) -> None:
    with pytest.raises(ExecuteError, match="more than 256 MB of memory"):
        session.run("SELECT list(range) FROM range(100000000)")
    assert one(session, "SELECT 1") == 1


def test_a_result_has_a_limit_of_its_own(session: Session) -> None:
    before = resident_bytes()
    sql = "SELECT a.range, b.range AS c FROM range(1000000) a, range(1000000) b"
    with pytest.raises(ExecuteError, match=r"larger than 64 MB; ask for fewer rows \(LIMIT\)"):
        session.run(sql)
    assert resident_bytes() - before < 400 << 20
    assert one(session, "SELECT count(*) FROM t") == 3


def distances(rows: int, letters: int) -> str:
    """A statement that DuckDB cannot interrupt and whose memory it does not count."""
    texts = f"repeat('a', {letters}) || range, repeat('b', {letters})"
    return f"SELECT max(damerau_levenshtein({texts})) FROM range({rows})"


def test_memory_that_duckdb_does_not_count_is_watched(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reeldb.index.session.PATIENCE_S", 0.2)
    with pytest.raises(ExecuteError, match="more than 256 MB of memory"):
        session.run(distances(4, 9_500), timeout_s=30)
    assert one(session, "SELECT count(*) FROM t") == 3


def test_an_error_amid_the_rows_is_like_any_other(session: Session) -> None:
    sql = "SELECT CASE WHEN range > 90000 THEN (range || 'x')::INT ELSE 1 END FROM range(100000)"
    with pytest.raises(ExecuteError, match="string '90001x' to INT32"):
        session.run(sql)
    assert one(session, "SELECT 1") == 1


def test_a_call_that_cannot_be_interrupted_is_left_behind(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reeldb.index.session.PATIENCE_S", 0.2)
    before = time.monotonic()
    with pytest.raises(TimeoutExceeded):
        session.run(distances(20, 2_500), timeout_s=0.1)
    took = time.monotonic() - before
    assert one(session, "SELECT count(*) FROM t") == 3
    assert took < 1.5


def test_a_connection_that_broke_is_replaced(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Session, connection: duckdb.DuckDBPyConnection, *__: object) -> pa.Table:
        connection.close()
        raise duckdb.FatalException("FATAL Error: the database is invalid\n\nStack Trace: ...")

    with monkeypatch.context() as patch:
        patch.setattr(Session, "_rows", broken)
        with pytest.raises(ExecuteError, match="DuckDB broke on this statement: the database"):
            session.run("SELECT 1")
    assert one(session, "SELECT count(*) FROM t") == 3


def test_advice_to_set_what_cannot_be_set_is_left_out(session: Session) -> None:
    with pytest.raises(ExecuteError) as caught:
        session.run("SELECT 1 % 0")
    assert str(caught.value) == "Division by zero in expression (1 % 0)."


def test_a_missing_parameter_is_named(session: Session) -> None:
    with pytest.raises(ExecuteError, match=r"no value for the parameter \$who"):
        session.run("SELECT $who", {"whom": 1})


def test_errors_keep_the_near_miss_and_fit_on_one_line(session: Session) -> None:
    with pytest.raises(ExecuteError) as caught:
        session.run("SELECT aa FROM t")
    assert "aa" in str(caught.value) and "\n" not in str(caught.value)


def test_threads_share_a_session_one_statement_at_a_time(session: Session) -> None:
    got: list[object] = []
    sql = "SELECT count(*) FROM t, range(1000)"
    threads = [threading.Thread(target=lambda: got.append(one(session, sql))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [3000] * 8


def test_ctrl_c_is_a_keyboard_interrupt() -> None:
    code = f"""
import sys
from reeldb.index.session import Session, resident_bytes
session = Session()
print("ready", flush=True)
try:
    session.run({ENDLESS!r}, timeout_s=50)
except KeyboardInterrupt:
    print("interrupted", session.run("SELECT 1 AS a").to_pylist())
"""
    process = start(code)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    assert finish(process) == "interrupted [{'a': 1}]\n"
