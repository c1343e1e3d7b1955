"""Statements that are small to write and large to run: refused at once, or stopped in time."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from reeldb.index.session import Session, resident_bytes
from reeldb.query.engine import Engine
from reeldb.schema.errors import BindError, ExecuteError, ParseError, PlanError, TimeoutExceeded
from tests.index.processes import ROOT
from tests.query.world import World, make_world

MB = 1 << 20


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("bombs") / "archive", videos=12)


@pytest.fixture(scope="module")
def engine(world: World) -> Iterator[Engine]:
    """An engine with little memory; the archive is as before in the end."""
    before = world.archive.snapshot().versions
    engine = world.engine()
    with pytest.MonkeyPatch.context() as patch:
        small = functools.partial(Session, memory_mb=128, threads=2)
        patch.setattr("reeldb.query.engine.Session", small)
        yield engine
    assert world.archive.snapshot().versions == before


@pytest.fixture
def strict(engine: Engine) -> Iterator[Engine]:
    """The same with half a second for a statement; it works afterwards."""
    engine.sql("SET statement_timeout = 0.5")
    yield engine
    engine.sql("SET statement_timeout = 30")
    assert engine.sql("SELECT count(*) FROM videos").fetchone() == (12,)


def nested(before: str, inside: str, after: str, times: int) -> str:
    return "SELECT " + before * times + inside + after * times


# Values

FAR = "the statement builds values that are too large"
DOUBLED = ", ".join(f"a{i} || a{i} AS a{i + 1}" for i in range(30))
GROWING = {
    "SELECT repeat('x', 3e9)": "repeat wants a literal count of at most 100,000",
    "SELECT repeat('x', 3000000000)": "repeat wants a literal count of at most 100,000",
    "SELECT repeat('x', bytes) FROM videos": "repeat wants a literal count",
    "SELECT repeat('x', (SELECT 3000000000))": "repeat wants a literal count",
    "SELECT length(repeat(repeat(repeat('x', 10000), 10000), 10000))": FAR,
    "SELECT 1 FROM scenes WHERE repeat(repeat(video, 10000), 10000) = 'x'": FAR,
    "SELECT 1 FROM scenes ORDER BY repeat(repeat(video, 10000), 10000)": FAR,
    "SELECT count(*) FILTER (WHERE repeat(repeat(video, 9000), 9000) = 'x') FROM scenes": FAR,
    "SELECT EXISTS (SELECT 1 WHERE repeat(repeat('xxxxxxxxxx', 90000), 90000) = 'x')": FAR,
    "SELECT repeat([repeat('x', 90000)], 90000)": FAR,
    "SELECT lpad('x', 2000000000, 'y')": "lpad and rpad want a literal count",
    "SELECT rpad('x', scene_no * 1000000000, 'y') FROM scenes": "lpad and rpad want",
    "SELECT len(range(500000000))": "give at most 1,000,000 rows",
    "SELECT range(500000)": "outside FROM give at most 10,000 items",
    "SELECT unnest(generate_series(1, 500000))": "outside FROM give at most 10,000 items",
    "SELECT count(*) FROM range(100000000000)": "give at most 1,000,000 rows",
    "SELECT count(*) FROM range(0, 1, 0.0000001)": "give at most 1,000,000 rows",
    "SELECT count(*) FROM range(1, 1, 0)": "want literal numbers",
    "SELECT count(*) FROM range((SELECT max(bytes) FROM videos))": "want literal numbers",
    "SELECT * FROM scenes s, LATERAL (SELECT * FROM range(s.scene_no)) r": "want literal numbers",
    "SELECT printf('%1000000000d', 1)": "widths below 1000",
    "SELECT printf('%*d', 1000000000, 1)": "a literal format",
    "SELECT printf(video, 1) FROM scenes": "a literal format",
    "SELECT format('{:1000000000}', 'x')": "widths below 1000",
    "SELECT format('{:{}}', 'x', 1000000000)": "a literal format",
    "SELECT " + "format('{0}{0}{0}{0}{0}{0}{0}{0}', " * 8 + "repeat('x', 9000)" + ")" * 8: FAR,
    "SELECT list_transform(range(9999), x -> repeat('a', 10000))": FAR,
    "SELECT list_transform(range(9999), lambda x: range(9999))": FAR,
    "SELECT list_filter(range(9999), lambda x: list_contains(range(9999), -x))": FAR,
    "SELECT [y FOR y IN range(9999) IF list_contains(range(9999), -y)]": FAR,
    "SELECT list_filter(l, lambda x: list_contains(l, -x)) FROM "
    "(SELECT list(a.x * b.x) AS l FROM range(1000) a(x), range(1000) b(x))": FAR,
    "WITH a AS (SELECT repeat('x', 10000) x), b AS (SELECT repeat(x, 90000) x FROM a), "
    "c AS (SELECT repeat(x, 90000) x FROM b) SELECT length(x) FROM c": FAR,
    "WITH a AS (SELECT 'x' x)" + "".join(
        f", a{i} AS (SELECT {'||'.join(['x'] * 40)} x FROM a{i - 1 or ''})" for i in range(1, 8)
    ) + " SELECT length(x) FROM a7": FAR,
    f"SELECT 'xxxxxxxxxx' AS a0, {DOUBLED}": "too large",
    "SELECT replace(repeat('a', 50000), 'a', repeat('b', 50000))": FAR,
    "SELECT " + "regexp_replace(" * 17 + "repeat('x', 9000)" + ", '', 'yy', 'g')" * 17: FAR,
    "SELECT " + "hex(" * 20 + "repeat('x', 9000)" + ")" * 20: FAR,
    "SELECT array_to_string(range(9999), repeat('x', 90000))": FAR,
    "SELECT levenshtein(repeat('a', 90000), video) FROM scenes": "texts of some 1,000 characters",
    "SELECT jaro_winkler_similarity(a, a) FROM (SELECT string_agg(video, '') a FROM scenes)":
        "texts of some 1,000 characters",
    "SELECT damerau_levenshtein(video, video) FROM scenes": "is not available",
    "SELECT regexp_matches(repeat(video, 9000), 'a{99}b{90}') FROM scenes":
        "the text and the pattern are too large together",
    "SELECT NULL::INTEGER[100000]": "a fixed array has at most 10,000 items",
    "SELECT NULL::INTEGER[200][200]": "a fixed array has at most 10,000 items",
}  # fmt: skip


@pytest.mark.parametrize("sql", GROWING)
def test_a_value_that_would_grow_without_bound_is_refused_at_once(engine: Engine, sql: str) -> None:
    started = time.monotonic()
    with pytest.raises((ParseError, PlanError)) as caught:
        engine.sql(sql)
    assert GROWING[sql] in str(caught.value)
    assert time.monotonic() - started < 2


def test_a_large_parameter_counts_where_it_is_repeated(engine: Engine) -> None:
    assert engine.sql("SELECT length($a)", {"a": "x" * MB}).fetchone() == (MB,)
    with pytest.raises(BindError, match=r"with these parameters .* too large"):
        engine.sql("SELECT length(repeat($a, 90000))", {"a": "x" * MB})
    with pytest.raises(BindError, match="with these parameters levenshtein"):
        engine.sql("SELECT levenshtein(?, ?)", ["x" * MB, "y" * MB])


def test_ordinary_repetition_passes(engine: Engine) -> None:
    sql = "SELECT repeat('ab', 3), lpad('7', 3, '0'), replace('cat', 'c', 'b'), range(3)"
    assert engine.sql(sql).fetchall() == [("ababab", "007", "bat", [0, 1, 2])]
    for text in (
        "SELECT regexp_replace(lower(trim(video)), '[^a-z0-9]{1,64}', '-', 'g') FROM videos",
        "SELECT list_transform(l, lambda x: x * 2) FROM (SELECT list(start_s) l FROM scenes)",
        "SELECT array_to_string(list(video || ' at ' || start_s), ', ') FROM scenes",
        "SELECT list(l) FROM (SELECT list(start_s) AS l FROM scenes GROUP BY video)",
        "SELECT replace(replace(replace(video, '.', ' '), '_', ' '), 'mp4', '') FROM videos",
        "SELECT printf('%05.2f %s', start_s, video), format('{:>9} {}', video, 1) FROM scenes",
        "SELECT regexp_matches(string_agg(text, ' '), 'mi.*k') FROM speech GROUP BY video",
        "SELECT count(*) FROM range(1000000)",
    ):
        assert engine.sql(text).fetchone() is not None


# The text itself

DEEP = "nested deeper than"
TEXTS = {
    nested("(", "1", ")", 10_000): "more than 4,000 words",
    nested("(", "1", ")", 1_900): "nested deeper than 24 levels (line 1, column 32)",
    "SELECT * FROM " + "(SELECT * FROM " * 500 + "scenes" + ")" * 500: DEEP,
    nested("NOT ", "TRUE", "", 10_000): "more than 4,000 words",
    nested("NOT ", "TRUE", "", 1_000): DEEP,
    nested("NOT " * 20 + "(", "TRUE", ")", 20): "nested too deep",
    nested("CASE WHEN TRUE THEN ", "1", " END", 10_000): "longer than 100,000 characters",
    nested("CASE WHEN TRUE THEN ", "1", " END", 500): DEEP,
    nested("[", "1", "]", 10_000): "more than 4,000 words",
    nested("[", "1", "]", 1_000): DEEP,
    nested("{'a': ", "1", "}", 500): DEEP,
    nested("- ", "1", "", 10_000): "more than 4,000 words",
    nested("-", "1", "", 10_000): "SELECT wants a list of columns",  # `--` is a remark
    nested("~ ", "1", "", 1_000): DEEP,
    nested("list_transform([1], lambda x: ", "1", ")", 20): "more than 4 lambdas in one another",
    "SELECT 1 WHERE " + " AND ".join(["1 = 1"] * 5_000): "more than 4,000 words",
    " UNION ALL ".join(["SELECT 1"] * 600): "more than 32 set operations",
    "SELECT " + " + ".join(["1"] * 1_900): DEEP,
    "SELECT " + " || ".join(["'a'"] * 1_900): DEEP,
    "SELECT 1" + " IS NULL" * 1_300: DEEP,
    "SELECT 1" + "::INT" * 1_900: DEEP,
    "SELECT 1" + " BETWEEN 0 AND 1" * 700: DEEP,
    "SELECT NULL::INT" + "[]" * 1_000: "more than 150 brackets or dots",
    "SELECT video" + "[1]" * 1_200 + " FROM videos": "more than 150 brackets or dots",
    "SELECT 'a'" + ".upper()" * 700: "more than 150 brackets or dots",
    "SELECT settings" + ".a" * 1_900 + " FROM videos": DEEP,
    "SELECT 1 AS a0" + "".join(f", a{i} + 1 AS a{i + 1}" for i in range(400)): DEEP,
    f"SELECT 1 AS a0, {DOUBLED.replace('||', '+')}": "grows too large when its aliases",
    "SELECT 1 AS a0, " + ", ".join(f"greatest(a{i}, a{i}) AS a{i + 1}" for i in range(30)):
        "grows too large when its aliases",
    "WITH c0 AS (SELECT 1 AS x)"
    + "".join(f", c{i + 1} AS (SELECT x FROM c{i})" for i in range(250)) + " SELECT * FROM c250":
        DEEP,
    "WITH c0 AS (SELECT 1 AS x)"
    + "".join(f", c{i + 1} AS (SELECT a.x FROM c{i} a, c{i} b)" for i in range(30))
    + " SELECT * FROM c30": "grows too large when its aliases and CTEs are written out",
    "SELECT " + "(" * 20: "something is missing",
    "SELECT '" + "x" * 100_000: "longer than 100,000 characters",
    "/*" * 10_000: "a quote or comment is not closed",
    "(" * 99_000: "more than 4,000 words",
}  # fmt: skip


@pytest.mark.parametrize("sql", TEXTS, ids=lambda sql: f"{sql[:40]}..{len(sql)}")
def test_a_text_without_end_is_refused_before_anything_recursive(engine: Engine, sql: str) -> None:
    started = time.monotonic()
    with pytest.raises((ParseError, PlanError, BindError)) as caught:
        engine.sql(sql)
    message = str(caught.value)
    assert TEXTS[sql] in message
    assert "\n" not in message and len(message) < 300
    assert time.monotonic() - started < 3


LARGE_AND_FINE = {
    nested("(", "1", ")", 24): (1,),
    nested("NOT (", "TRUE", ")", 23): (False,),
    nested("CASE WHEN TRUE THEN ", "1", " END", 23): (1,),
    nested("(SELECT ", "1", ")", 23): (1,),
    "SELECT count(*) FROM " + "(SELECT * FROM " * 20 + "videos" + ")" * 20: (12,),
    nested("list_transform([1], lambda x: ", "1", ")", 4): ([[[[1]]]],),
    "SELECT count(*) FROM videos WHERE " + " OR ".join(["width = 64"] * 600): (12,),
    "SELECT " + " + ".join(["1"] * 100): (100,),
    "SELECT length('" + "x" * 90_000 + "')": (90_000,),
    "SELECT 1" + ";" * 9_000: (1,),
    "-- x\n" * 9_000 + "SELECT 1": (1,),
    "SELECT count(*) FROM videos WHERE width IN (" + ", ".join(map(str, range(900))) + ")": (12,),
    "WITH c0 AS (SELECT 1 AS x)"
    + "".join(f", c{i + 1} AS (SELECT x + 1 AS x FROM c{i})" for i in range(20))
    + " SELECT * FROM c20": (21,),
}


@pytest.mark.parametrize("sql", LARGE_AND_FINE, ids=lambda sql: f"{sql[:40]}..{len(sql)}")
def test_what_is_large_within_reason_runs(engine: Engine, sql: str) -> None:
    assert engine.sql(sql).fetchone() == LARGE_AND_FINE[sql]


def test_the_deepest_statement_leaves_room_on_the_stack(engine: Engine) -> None:
    sql = "SELECT count(*) FROM " + "(SELECT * FROM " * 24 + "scenes" + ")" * 24

    def below(depth: int) -> object:
        return below(depth - 1) if depth else engine.sql(sql).fetchone()

    assert below(200) == (156,)


# Time and memory

FOREVER = "range(999999) a(x), range(999999) b(y), range(999999) c(z)"
ENDLESS = {
    f"SELECT count(*) FROM {FOREVER} WHERE (x * y + z) % 7 = 3": TimeoutExceeded,
    "SELECT count(*) FROM scenes a, scenes b, scenes c, scenes d, scenes e, scenes f":
        TimeoutExceeded,
    "SELECT 1 FROM range(999999) a(x) WHERE EXISTS (SELECT 1 FROM range(999999) b(y) "
    "WHERE x * y = -1)": TimeoutExceeded,
    f"SELECT x, y, z FROM {FOREVER}": ExecuteError,
    f"SELECT x, y, z FROM {FOREVER} ORDER BY x * y % 7": ExecuteError,
    f"SELECT list(x) FROM {FOREVER}": ExecuteError,
    f"SELECT string_agg(x::TEXT, ',') FROM {FOREVER}": ExecuteError,
    f"SELECT mode(x * 999999 + y) FROM {FOREVER}": ExecuteError,
    f"SELECT histogram(x * 999999 + y) FROM {FOREVER}": ExecuteError,
    f"SELECT DISTINCT x * 999999 + y FROM {FOREVER}": ExecuteError,
    f"SELECT count(DISTINCT x * 999999 + y) FROM {FOREVER}": ExecuteError,
    f"SELECT row_number() OVER (ORDER BY x * y % 7) FROM {FOREVER}": ExecuteError,
    f"SELECT sum(x) OVER (PARTITION BY y % 7 ORDER BY x) FROM {FOREVER}": ExecuteError,
    "SELECT repeat('x', 90000) || x FROM range(999999) a(x)": ExecuteError,
    "SELECT repeat(['x'], 9000) FROM range(999999)": ExecuteError,
    "SELECT unnest(range(9999)) FROM scenes a, scenes b, scenes c": ExecuteError,
    "SELECT range(9999) FROM range(999999)": ExecuteError,
}  # fmt: skip


@pytest.mark.parametrize("sql", ENDLESS)
def test_what_never_ends_is_stopped_within_its_time_and_memory(strict: Engine, sql: str) -> None:
    with Peak() as peak, pytest.raises(ENDLESS[sql]) as caught:
        started = time.monotonic()
        strict.sql(sql)
    message = str(caught.value)
    wanted = ("stopped after 0.5 s", "more than 128 MB of memory", "larger than 32 MB")
    assert any(w in message for w in wanted) and "\n" not in message
    assert time.monotonic() - started < 10
    assert peak.grown < 700 * MB


class Peak:
    """How much the process grows while something runs, in bytes."""

    def __enter__(self) -> Peak:
        self.grown, self._start = 0, resident_bytes()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.02):
            self.grown = max(self.grown, resident_bytes() - self._start)


def test_the_time_limit_counts_no_time_spent_in_models(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = world.engine()
    captioner: Any = engine.models.get("captioner")
    caption = captioner.caption

    def slowly(requests: object) -> object:
        time.sleep(1.2)
        return caption(requests)

    monkeypatch.setattr(captioner, "caption", slowly)
    engine.sql("SET statement_timeout = 1")
    rows = engine.sql("SELECT caption FROM scenes WHERE video = 'v0.mp4' AND scene_no < 3")
    assert len(rows.fetchall()) == 3
    assert rows.stats["captions_made"] == 3


SHELL = f"""SELECT 'ready' AS word;
SELECT count(*) FROM {FOREVER} WHERE (x * y + z) % 7 = 3;
SELECT 40 + 2 AS answer;
"""


def test_ctrl_c_stops_a_statement_and_keeps_the_shell(world: World) -> None:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "reeldb", "shell", "--archive", str(world.archive.path)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(SHELL)
    process.stdin.close()
    while "1 row" not in process.stdout.readline():
        pass
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert process.wait(timeout=30) == 0
    assert "stopped; what was paid for is kept" in rest
    assert "42" in rest.partition("stopped")[2]
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()
