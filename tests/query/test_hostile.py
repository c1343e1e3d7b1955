"""Statements that want more than to read the archive."""

from __future__ import annotations

import time

import pytest

from reeldb.query.engine import Engine
from reeldb.query.functions import NAMES
from reeldb.schema.errors import BindError, ExecuteError, ParseError, PlanError, ReelError

secret = "a Python variable"

REACHING_OUT = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM \"/etc/passwd\"",
    "SELECT content FROM read_text('/etc/hostname')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM parquet_scan('x')",
    "COPY (SELECT 1) TO '/tmp/x.csv'",
    "COPY scenes FROM '/tmp/x.csv'",
    "EXPORT DATABASE '/tmp/e'",
    "ATTACH '/tmp/x.db' AS x",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA database_list",
    "SET memory_limit = '1TB'",
    "RESET memory_limit",
    "SET VARIABLE x = 1",
    "CREATE TABLE x AS SELECT 1",
    "CREATE MACRO f(x) AS x",
    "DROP TABLE scenes",
    "INSERT INTO scenes VALUES (1)",
    "UPDATE scenes SET scene_no = 1",
    "DELETE FROM scenes",
    "CHECKPOINT",
    "VACUUM",
    "CALL pragma_version()",
    "EXECUTE x",
    "SHOW ALL TABLES",
    "DESCRIBE SELECT 1",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('scenes')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_functions()",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_tables",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM secret",
    "SELECT getenv('HOME')",
    "SELECT current_setting('memory_limit')",
    "SELECT getvariable('x')",
    "SELECT pg_sleep(30)",
    "SELECT write_log('x')",
    "SELECT nextval('x')",
    "SELECT random()",
    "SELECT version()",
    "SELECT 1 INTO x",
    "SELECT 1 UNION SELECT 2 INTO x",
    "SELECT * FROM scenes TABLESAMPLE 10%",
    "SELECT * FROM scenes USING SAMPLE 10",
    "PIVOT scenes ON video USING count(*)",
    "SELECT * FROM (PIVOT scenes ON video USING count(*))",
    "SELECT COLUMNS('x.*') FROM scenes",
    "SELECT * FROM scenes POSITIONAL JOIN frames",
    "SELECT * FROM scenes ASOF JOIN frames USING (video_id)",
    "WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT * FROM r",
    "SELECT __k FROM scenes",
    "SELECT * FROM b_scenes",
    "SELECT * FROM f0",
    "SELECT __v0_r0 FROM scenes",
]  # fmt: skip
HIDDEN = [
    "WITH a AS ({}) SELECT * FROM a",
    "SELECT 1 WHERE EXISTS ({})",
    "SELECT * FROM ({}) d",
    "SELECT 1 UNION ALL {}",
    "EXPLAIN {}",
    "EXPLAIN ANALYZE {}",
    "/* harmless */ {} -- indeed",
    "ASK 'who?' FROM ({}) d",
]


@pytest.mark.parametrize("sql", REACHING_OUT)
def test_a_statement_that_reaches_out_is_refused_by_name(engine: Engine, sql: str) -> None:
    with pytest.raises((ParseError, BindError, PlanError)) as caught:
        engine.sql(sql)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("frame", HIDDEN)
@pytest.mark.parametrize(
    "inner",
    ["SELECT * FROM read_text('/etc/hostname')", "SELECT pg_sleep(30) AS x",
     "SELECT * FROM '/etc/passwd'", "SELECT * FROM duckdb_settings()"],
)  # fmt: skip
def test_hiding_it_does_not_help(engine: Engine, frame: str, inner: str) -> None:
    with pytest.raises((ParseError, BindError, PlanError)):
        engine.sql(frame.format(inner))


def test_the_same_words_inside_a_text_are_only_text(engine: Engine) -> None:
    text = "'; DROP TABLE scenes; SELECT * FROM read_csv(''/etc/passwd'') --"
    doubled = text.replace("'", "''")
    assert engine.sql(f"SELECT '{doubled}' AS x").fetchall() == [(text,)]
    assert engine.sql("SELECT count(*) FROM videos WHERE name = ?", [text]).fetchone() == (0,)


GROWING = [
    "SELECT repeat('x', 3000000000)",
    "SELECT length(repeat(repeat(repeat('x', 10000), 10000), 10000))",
    "SELECT repeat('x', bytes) FROM videos",
    "SELECT lpad('x', 2000000000, 'y')",
    "SELECT len(range(500000000))",
    "SELECT count(*) FROM range(100000000000)",
    "SELECT count(*) FROM range((SELECT max(bytes) FROM videos))",
    "SELECT printf('%1000000000d', 1)",
    "SELECT format('{:1000000000}', 'x')",
    "SELECT list_transform(range(500000), x -> repeat('a', 10000))",
    "WITH a AS (SELECT repeat('x', 10000) x), b AS (SELECT repeat(x, 10000) x FROM a) "
    "SELECT length(x) FROM b",
    "WITH a AS (SELECT 'x' x)" + "".join(
        f", a{i} AS (SELECT {'||'.join(['x'] * 40)} x FROM a{i - 1 or ''})" for i in range(1, 8)
    ) + " SELECT length(x) FROM a7",
    "SELECT replace(repeat('a', 5000), 'a', repeat('b', 5000))",
]  # fmt: skip


@pytest.mark.parametrize("sql", GROWING)
def test_a_value_that_would_grow_without_bound_is_refused_at_once(engine: Engine, sql: str) -> None:
    started = time.monotonic()
    with pytest.raises(ParseError):
        engine.sql(sql)
    assert time.monotonic() - started < 5


def test_ordinary_repetition_passes(engine: Engine) -> None:
    sql = "SELECT repeat('ab', 3), lpad('7', 3, '0'), replace('cat', 'c', 'b'), range(3)"
    assert engine.sql(sql).fetchall() == [("ababab", "007", "bat", [0, 1, 2])]


def test_a_join_that_never_ends_is_stopped_in_time(engine: Engine) -> None:
    engine.sql("SET statement_timeout = 1")
    started = time.monotonic()
    with pytest.raises(ExecuteError, match="stopped after 1 s"):
        engine.sql(
            "SELECT count(*) FROM range(999999) a(x), range(999999) b(y), range(999999) c(z) "
            "WHERE (x * y + z) % 7 = 3"
        )
    assert time.monotonic() - started < 15
    assert engine.sql("SELECT count(*) FROM videos").fetchone() == (12,)


def test_every_function_that_is_let_through_is_known_to_duckdb() -> None:
    import duckdb

    rows = duckdb.execute("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
    known = {str(r[0]).lower() for r in rows}
    grammar = {
        "coalesce", "ifnull", "nullif", "if", "row", "unnest", "current_timestamp",
        "current_date", "extract", "position", "repeat", "approx_distinct", "countif",
        "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag",
        "lead", "first_value", "last_value", "nth_value", "datepart", "date_add", "char_length",
        "str_split", "string_to_array",
    }  # fmt: skip
    assert NAMES - known <= grammar


@pytest.mark.parametrize("text", ["\0", "SELECT '\0'", "\ud800", "SELECT 'abc", "SELECT /* x"])
def test_broken_text_is_one_clear_line(engine: Engine, text: str) -> None:
    with pytest.raises(ReelError) as caught:
        engine.sql(text)
    assert "\n" not in str(caught.value)
