"""Statements that want more than to read the archive, and odd ones that are fine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reeldb.query.engine import Engine
from reeldb.query.functions import NAMES
from reeldb.schema.errors import BindError, ExecuteError, ParseError, PlanError, ReelError
from tests.query.world import World

secret = "a Python variable"

# What each is refused for, in the words of its message.
REACHING_OUT = {
    "SELECT content FROM read_text('/etc/hostname')": "function read_text() is not available",
    "SELECT * FROM read_blob('/etc/hostname')": "function read_blob() is not available",
    "SELECT * FROM read_csv('/etc/passwd')": "function read_csv() is not available",
    "SELECT * FROM read_csv_auto('/etc/passwd')": "function read_csv_auto() is not available",
    "SELECT * FROM read_json('/etc/passwd')": "function read_json() is not available",
    "SELECT * FROM read_parquet('x')": "function read_parquet() is not available",
    "SELECT * FROM parquet_scan('x')": "function parquet_scan() is not available",
    "SELECT * FROM sniff_csv('/etc/passwd')": "function sniff_csv() is not available",
    "SELECT * FROM glob('/etc/*')": "function glob() is not available",
    "SELECT * FROM '/etc/passwd'": "no relation '/etc/passwd'",
    "FROM 'x.csv'": "no relation 'x.csv'",
    'SELECT * FROM "x.parquet"': "no relation 'x.parquet'",
    "SELECT * FROM 'https://example.org/x.csv'": "no relation 'https://example.org/x.csv'",
    "COPY (SELECT 1) TO '/tmp/x.csv'": "'COPY' cannot start a statement",
    "COPY scenes FROM '/tmp/x.csv'": "'COPY' cannot start a statement",
    "EXPORT DATABASE '/tmp/e'": "'EXPORT' cannot start a statement",
    "IMPORT DATABASE '/tmp/e'": "'IMPORT' cannot start a statement",
    "ATTACH '/tmp/x.db' AS x": "'ATTACH' cannot start a statement",
    "DETACH x": "'DETACH' cannot start a statement",
    "USE x": "'USE' cannot start a statement",
    "INSTALL httpfs": "'INSTALL' cannot start a statement",
    "LOAD httpfs": "'LOAD' cannot start a statement",
    "PRAGMA database_list": "'PRAGMA' cannot start a statement",
    "SET memory_limit = '1TB'": "SET knows no 'memory_limit'",
    "SET enable_external_access = true": "SET knows no 'enable_external_access'",
    "SET GLOBAL threads = 1": "SET wants a name and a value",
    "SET VARIABLE x = 1": "SET wants a name and a value",
    "RESET memory_limit": "'RESET' cannot start a statement",
    "CREATE TABLE x AS SELECT 1": "'CREATE' cannot start a statement",
    "CREATE MACRO f(x) AS x": "'CREATE' cannot start a statement",
    "CREATE SECRET s (TYPE s3)": "'CREATE' cannot start a statement",
    "DROP TABLE scenes": "'DROP' cannot start a statement",
    "ALTER TABLE scenes ADD COLUMN x INT": "'ALTER' cannot start a statement",
    "INSERT INTO scenes VALUES (1)": "'INSERT' cannot start a statement",
    "UPDATE scenes SET scene_no = 1": "'UPDATE' cannot start a statement",
    "DELETE FROM scenes": "'DELETE' cannot start a statement",
    "TRUNCATE scenes": "'TRUNCATE' cannot start a statement",
    "MERGE INTO scenes USING scenes ON true": "'MERGE' cannot start a statement",
    "BEGIN": "'BEGIN' cannot start a statement",
    "CHECKPOINT": "'CHECKPOINT' cannot start a statement",
    "VACUUM": "'VACUUM' cannot start a statement",
    "CALL pragma_version()": "'CALL' cannot start a statement",
    "PREPARE x AS SELECT 1": "'PREPARE' cannot start a statement",
    "EXECUTE x": "'EXECUTE' cannot start a statement",
    "SHOW ALL TABLES": "SHOW knows TABLES only",
    "DESCRIBE SELECT 1": "DESCRIBE wants the name of one relation",
    "SUMMARIZE scenes": "'SUMMARIZE' cannot start a statement",
    "SELECT * FROM query('SELECT 1')": "function query() is not available",
    "SELECT * FROM query_table('scenes')": "function query_table() is not available",
    "SELECT * FROM duckdb_settings()": "function duckdb_settings() is not available",
    "SELECT * FROM duckdb_functions()": "function duckdb_functions() is not available",
    "SELECT * FROM duckdb_secrets()": "function duckdb_secrets() is not available",
    "SELECT * FROM pragma_version()": "function pragma_version() is not available",
    "SELECT * FROM duckdb_tables": "no relation 'duckdb_tables'",
    "SELECT * FROM information_schema.tables": "no relation 'tables'",
    "SELECT * FROM pg_catalog.pg_tables": "no relation 'pg_tables'",
    "SELECT * FROM sqlite_master": "no relation 'sqlite_master'",
    "SELECT * FROM memory.main.scenes": "TABLE with CATALOG is not available",
    "SELECT * FROM system.information_schema.tables": "TABLE with CATALOG is not available",
    "SELECT * FROM main.scenes": "no video 'main'",
    "SELECT * FROM secret": "no relation 'secret'",
    "SELECT secret": "no column 'secret'",
    "SELECT getenv('HOME')": "function getenv() is not available",
    "SELECT current_setting('memory_limit')": "function current_setting() is not available",
    "SELECT current_user": "function current_user() is not available",
    "SELECT getvariable('x')": "function getvariable() is not available",
    "SELECT pg_sleep(30)": "function pg_sleep() is not available",
    "SELECT sleep_ms(30000)": "function sleep_ms() is not available",
    "SELECT write_log('x')": "function write_log() is not available",
    "SELECT error('x')": "function error() is not available",
    "SELECT nextval('x')": "() is not available",
    "SELECT random()": "() is not available",
    "SELECT version()": "() is not available",
    "SELECT 1 INTO x": "SELECT INTO is not available",
    "SELECT 1 UNION SELECT 2 INTO x": "SELECT INTO is not available",
    "SELECT * FROM scenes TABLESAMPLE 10%": "SAMPLE is not available",
    "SELECT * FROM scenes USING SAMPLE 10": "SAMPLE is not available",
    "PIVOT scenes ON video USING count(*)": "'PIVOT' cannot start a statement",
    "SELECT * FROM (PIVOT scenes ON video USING count(*))": "PIVOT is not part of the language",
    "SELECT COLUMNS('x.*') FROM scenes": "function columns() is not available",
    "SELECT * FROM scenes POSITIONAL JOIN frames": "POSITIONAL JOIN is not available",
    "SELECT * FROM scenes ASOF JOIN frames USING (video_id)": "ASOF JOIN is not available",
    "WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT * FROM r":
        "WITH RECURSIVE is not available: it can run without end",
    "WITH r AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT * FROM r": "no relation 'r'",
    "SELECT #1": "#1 is not part of the language",
    "SELECT __k FROM scenes": "no column '__k'",
    "SELECT * FROM b_scenes": "no relation 'b_scenes'",
    "SELECT * FROM f0": "no relation 'f0'",
    "SELECT __v0_r0 FROM scenes": "no column '__v0_r0'",
    "SELECT 1; DROP TABLE scenes": "a second one starts here (line 1, column 9)",
    "SELECT 1;;SELECT 2": "a second one starts here (line 1, column 9)",
    "EXPLAIN COPY (SELECT 1) TO 'x'": "'COPY' cannot start a statement",
    "ASK 'who?' FROM read_csv('x')": "function read_csv() is not available",
    "ASK 'who?' FROM scenes; DROP TABLE x": "a second one starts here",
}  # fmt: skip
HIDDEN = [
    "WITH a AS ({}) SELECT * FROM a",
    "WITH a AS (SELECT 1), b AS (WITH c AS ({}) SELECT 1) SELECT * FROM a",
    "SELECT 1 WHERE EXISTS ({})",
    "SELECT 1 WHERE 1 IN ({})",
    "SELECT 1 WHERE 1 = ANY ({})",
    "SELECT * FROM ({}) d",
    "SELECT * FROM scenes s, LATERAL ({}) d",
    "SELECT * FROM scenes s JOIN videos v ON s.video = v.video AND EXISTS ({})",
    "SELECT 1 UNION ALL {}",
    "(SELECT 1) EXCEPT ({})",
    "SELECT ({})",
    "SELECT CASE WHEN FALSE THEN ({}) END",
    "SELECT count(*) FILTER (WHERE EXISTS ({})) FROM scenes",
    "SELECT sum(1) OVER (ORDER BY ({})) FROM scenes",
    "SELECT list_transform([1], lambda x: ({}))",
    "SELECT [x FOR x IN [1] IF EXISTS ({})]",
    "SELECT {{'a': ({})}}",
    "SELECT 1 FROM scenes GROUP BY ({})",
    "SELECT 1 FROM scenes HAVING ({}) IS NULL",
    "SELECT 1 FROM scenes QUALIFY ({}) IS NULL",
    "SELECT 1 FROM scenes ORDER BY ({})",
    "SELECT DISTINCT ON (({})) video FROM scenes",
    "VALUES (({}))",
    "FROM ({}) d SELECT 1",
    "EXPLAIN {}",
    "EXPLAIN ANALYZE {}",
    "/* harmless */ {} -- indeed",
    "/* a /* nested */ comment */ {}",
    "ASK 'who?' FROM ({}) d",
    "ASK 'who?' FROM scenes WHERE EXISTS ({}) USING topk BUDGET 5 CALLS",
    "{} BUDGET 5 CALLS",
]
NOT_THERE = {
    "SELECT 1 FROM scenes LIMIT ({})": "LIMIT wants a number, not a query",
    "SELECT 1 FROM scenes OFFSET ({}) + 1": "OFFSET wants a number, not a query",
    "SELECT 1 UNION SELECT 2 LIMIT ({})": "LIMIT wants a number, not a query",
    "SELECT 1 AS a UNION SELECT 2 ORDER BY a + ({})": "takes columns, not a query",
    "VALUES (1), (2) LIMIT ({})": "LIMIT wants a number, not a query",
    "SELECT * FROM (SELECT 1 LIMIT ({}))": "LIMIT wants a number, not a query",
}
INNER = {
    "SELECT content FROM read_text('/etc/hostname')": "function read_text() is not available",
    "SELECT pg_sleep(30) AS x": "function pg_sleep() is not available",
    "SELECT * FROM '/etc/passwd'": "no relation '/etc/passwd'",
    "SELECT 1 FROM DUCKDB_SETTINGS()": "function duckdb_settings() is not available",
}

# Places whose text the printer would hand to DuckDB as it stands.
RAW = {
    "SELECT CAST(1 AS \"INT) FROM read_text('x') --\")": None,  # reads as INT, and is only that
    'SELECT CAST(1 AS "x) FROM pg_sleep(3) --")': "type 'x) FROM pg_sleep(3) --' is not",
    'SELECT CAST(1 AS "a b")': "type 'a b' is not available",
    'SELECT CAST(1 AS "a""b")': "a name of a type cannot be read",
    "SELECT CAST(1 AS a.b)": "type 'a.b' is not available",
    "SELECT CAST(1 AS foo)": "type 'foo' is not available",
    "SELECT CAST('a' AS ENUM('a', 'b'))": "type 'ENUM' is not available",
    "SELECT CAST(1 AS DECIMAL(9, 'x'))": "a type takes whole numbers",
    'SELECT CAST([1] AS STRUCT(a "x; y"))': "type 'x; y' is not available",
    'SELECT EXTRACT("year FROM now()) --" FROM now())': "cannot stand here",
    'SELECT date_trunc("a b", now())': "'A B' cannot stand here",
    "SELECT list_transform([1], lambda a\u200bb: 1)": "put it into double quotes",
    "SELECT 1 FROM scenes s\u202e": "is no plain name",
}


@pytest.fixture(scope="module")
def engine(world: World) -> Iterator[Engine]:
    """One engine for all of these; whatever they do, the archive stays as it was."""
    before = world.archive.snapshot().versions
    engine = world.engine()
    yield engine
    assert world.archive.snapshot().versions == before
    assert engine.sql("SELECT count(*) FROM videos").fetchone() == (12,)


def refused(engine: Engine, sql: str) -> str:
    with pytest.raises((ParseError, BindError, PlanError)) as caught:
        engine.sql(sql)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("sql", REACHING_OUT)
def test_a_statement_that_reaches_out_is_refused_by_name(engine: Engine, sql: str) -> None:
    assert REACHING_OUT[sql] in refused(engine, sql)


@pytest.mark.parametrize("frame", HIDDEN)
@pytest.mark.parametrize("inner", INNER)
def test_hiding_it_does_not_help(engine: Engine, frame: str, inner: str) -> None:
    assert INNER[inner] in refused(engine, frame.format(inner))


@pytest.mark.parametrize("frame", NOT_THERE)
def test_a_query_stands_only_where_it_is_looked_for(engine: Engine, frame: str) -> None:
    assert NOT_THERE[frame] in refused(engine, frame.format("SELECT count(*) FROM pg_class"))


@pytest.mark.parametrize("sql", RAW)
def test_nothing_reaches_duckdb_as_it_was_written(engine: Engine, sql: str) -> None:
    if RAW[sql] is None:
        assert engine.sql(sql).fetchall() == [(1,)]
    else:
        assert str(RAW[sql]) in refused(engine, sql)


def test_the_same_words_inside_a_text_are_only_text(engine: Engine) -> None:
    text = "'; DROP TABLE scenes; SELECT * FROM read_csv(''/etc/passwd'') --"
    doubled = text.replace("'", "''")
    assert engine.sql(f"SELECT '{doubled}' AS x").fetchall() == [(text,)]
    assert engine.sql(f"SELECT $${text}$$ AS x").fetchall() == [(text,)]
    assert engine.sql(f"SELECT $q${text}$q$ AS x").fetchall() == [(text,)]
    assert engine.sql("SELECT ? AS x", [text]).fetchall() == [(text,)]
    assert engine.sql(f"SELECT 1 AS x /* {text} /* nested */ */").fetchall() == [(1,)]
    assert engine.sql("SELECT count(*) FROM videos WHERE name = ?", [text]).fetchone() == (0,)


def test_a_parameter_is_a_value_and_never_a_name(engine: Engine) -> None:
    assert engine.sql("SELECT $x AS x", {"x": "video"}).fetchall() == [("video",)]
    with pytest.raises(BindError, match="no relation 'x'"):
        engine.sql("SELECT * FROM $x", {"x": "scenes"})


def test_names_of_python_stay_unknown(engine: Engine) -> None:
    secret_list = [1, 2]
    assert "no relation 'secret_list'" in refused(engine, "SELECT * FROM secret_list")
    assert len(secret_list) == 2


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


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\0", "a NUL character stands in the statement (line 1, column 1)"),
        ("SELECT '\0'", "a NUL character stands in the statement (line 1, column 9)"),
        ("\ud800", "cannot start a statement"),
        ("SELECT 'abc", "a quote or comment is not closed"),
        ('SELECT "abc', "a quote or comment is not closed"),
        ("SELECT $$abc", "a quote or comment is not closed"),
        ("SELECT /* x", "a quote or comment is not closed"),
        ("SELECT /* a /* b */", "a quote or comment is not closed"),
        ("SELECT (1", "(line 1, column"),
        ("SELECT 1)", "(line 1, column 9)"),
        ("SELECT :name", "something is missing or out of place"),
        ("SELECT E'a\\n'", "E'...' is not part of the language"),
        ("SELECT 1,, 2", "two commas in a row (line 1, column 10)"),
        ("SELECT FROM scenes", "SELECT wants a list of columns"),
        ("ＳＥＬＥＣＴ 1", "'ＳＥＬＥＣＴ' cannot start a statement"),
        ("SELECT ｓｔａｒｔ_s FROM scenes", "no column 'ｓｔａｒｔ_s'"),
        ("SELECT 1 FROM ѕcenes", "did you mean scenes?"),  # a Cyrillic letter
        ("SELECT 1 WHERE 1 ＝ 1", "line 1, column 18"),
        ("SELECT ‘a’", "'‘a’' is no plain name: put it into double quotes (line 1, column 8)"),
    ],
)
def test_broken_text_is_one_clear_line(engine: Engine, text: str, says: str) -> None:
    with pytest.raises(ReelError) as caught:
        engine.sql(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value) and "sqlglot" not in str(caught.value)


ODD_AND_FINE = {
    "SELECT count(*) FROM scenes WHERE start_s BETWEEN 10 AND 5": (0,),
    "SELECT COUNT(*) FROM SCENES WHERE SCENE_NO = 1": (12,),
    'SELECT count("Scene_No") FROM "SCENES" WHERE "start_S" = 0': (12,),
    "SELECT 1 AS n;;;": (1,),
    "\ufeffSELECT 1 AS n": (1,),
    "SELECT\u00a01\u2003AS\u3000n": (1,),
    "\n\t SELECT -- a remark\n 1 /* and one */ AS n -- ; SELECT 2": (1,),
    "(SELECT 1 AS n)": (1,),
    "TABLE videos LIMIT 0": None,
    "FROM videos SELECT count(*)": (12,),
    "SELECT count(*) FROM scenes LIMIT NULL": (132 + 24,),
    'SELECT 1 AS "select", 2 AS "a""b; --"': (1, 2),
    "SELECT max(start_s) AS größe FROM scenes HAVING größe > 0": (150.0,),
    "SELECT length('é' || '🎬' || '\u202e')": (3,),
    "SELECT '' = '' AND NULL IS NULL": (True,),
    "SELECT 1.5e3, .5, 1_000": (1500.0, 0.5, 1000),
    "SELECT count(*) FROM scenes OFFSET 1": None,
    "VALUES (1, 'a'), (2, 'b') ORDER BY 1 DESC LIMIT 1": (2, "b"),
    "SELECT [1, 2, 3][-1], {'a b': 1}['a b']": (3, 1),
    "SELECT 9999999999999999999 > 0": (True,),
}


@pytest.mark.parametrize("sql", ODD_AND_FINE)
def test_odd_statements_that_are_fine_give_their_rows(engine: Engine, sql: str) -> None:
    assert engine.sql(sql).fetchone() == ODD_AND_FINE[sql]


ODD_AND_WRONG = {
    "SELECT * FROM scenes ORDER BY strat_s": ("no column 'strat_s' (line 1, column 31)", "start_s"),
    "SELECT SIMILLAR(image, 'x') FROM scenes": ("function simillar()", "similarity"),
    "SELECT * FROM scnes": ("no relation 'scnes' (line 1, column 15)", "scenes"),
    'SELECT * FROM "v0.mp".scenes': ("no video 'v0.mp'", "v0.mp4"),
    "SELECT s.strat_s FROM scenes s": ("s has no column 'strat_s'", "start_s"),
    "SELECT x.start_s FROM scenes s": ("no relation 'x' here", "s"),
    "SELECT * FROM scenes LIMIT -5": ("LIMIT -5", "a whole number"),
    "SELECT * FROM scenes LIMIT 'a'": ("LIMIT 'a'", "a whole number"),
    "SELECT * FROM scenes LIMIT 1.5": ("LIMIT 1.5", "a whole number"),
    "SELECT * FROM scenes OFFSET -1": ("OFFSET -1", "a whole number"),
    "SELECT end FROM scenes": ("no column 'end'", "end_s"),
    "SELECT video, count(*) FROM scenes": ("video", "GROUP BY"),
    "SELECT start_s FROM scenes WHERE count(*) > 1": ("WHERE", "aggregate"),
    "SELECT sum(video) FROM scenes": ("sum", "VARCHAR"),
    "SELECT upper(1, 2)": ("arguments (2)", "column 18"),
    "SELECT * FROM scenes a JOIN scenes a ON true": ("called 'a'", "alias"),
    "SELECT video FROM scenes a, scenes b": ("'video' is ambiguous", "a.video or b.video"),
    "SELECT 1 UNION SELECT 1, 2": ("UNION", "1 and 2 columns"),
    "SELECT (SELECT 1, 2)": ("Subquery returns 2 columns", "expected 1"),
    "SELECT * FROM scenes ORDER BY 99": ("ORDER BY 99", "columns"),
    "SELECT image FROM scenes": ("image is a picture", "similarity"),
    "SELECT \"kitchen\" FROM scenes": ("no column 'kitchen'", "single quotes"),
    "SELECT 1 +": ("(line 1", "column"),
    "SELECT 'a'::INT": ("'a'", "INT"),
    "SELECT * FROM range(10000000)": ("at most 1,000,000 rows", "range"),
}  # fmt: skip


@pytest.mark.parametrize("sql", ODD_AND_WRONG)
def test_odd_statements_that_are_wrong_name_the_word_and_what_is_near(
    engine: Engine, sql: str
) -> None:
    with pytest.raises((ParseError, BindError, ExecuteError)) as caught:
        engine.sql(sql)
    message = str(caught.value)
    assert all(part in message for part in ODD_AND_WRONG[sql]), message
    assert "\n" not in message
