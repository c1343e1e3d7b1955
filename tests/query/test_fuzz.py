"""Random text, random statements: the only errors are our own, and rows are right.

Whatever is tried, DuckDB gets one SELECT at a time, over the tables that the engine registered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from reeldb.index.session import Session
from reeldb.models.registry import Models
from reeldb.query.dialect import parse_tokens, sql_of, tokenize
from reeldb.query.engine import Engine
from reeldb.query.parse import Select, parse
from reeldb.schema.errors import ReelError, TimeoutExceeded
from tests.archives import make_archive, synthetic_video
from tests.query.bounded import run_bounded
from tests.query.generator import Generator
from tests.query.oracle import Oracle
from tests.query.stored import RELATIONS, Stored
from tests.query.test_oracle import is_ordered, rows_of
from tests.query.world import World, make_world

_WORDS = """
SELECT FROM WHERE scenes frames video caption image ocr matches similarity ( ) , . * = < > +
- / || :: [ ] { } 'text' "name" 1 2.5 NULL AND OR NOT IN EXISTS CASE WHEN THEN ELSE END AS
JOIN LEFT ON USING GROUP BY ORDER LIMIT OFFSET HAVING QUALIFY OVER PARTITION UNION ALL EXCEPT
WITH DISTINCT BETWEEN LIKE IS ? $x $1 ; -- /* */ BUDGET 5 CAPTIONS CALLS EXPLAIN ANALYZE ASK
CHOICES USING SET SHOW TABLES DESCRIBE REPLAY SUMMARIZE VIDEO INTO COPY read_csv pg_sleep
repeat range unnest count lambda x : -> overlaps before a b VALUES LATERAL INTERVAL CAST
"""
WORDS = _WORDS.split()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("fuzz") / "archive", videos=7, scenes=6)


@pytest.fixture(scope="module")
def oracles(small: World) -> list[Oracle]:
    return [Oracle(small, salt) for salt in (0, 1)]


@given(st.text(max_size=80))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_statement_or_one_of_our_errors(text: str) -> None:
    try:
        parse(text)
    except ReelError as e:
        assert "\n" not in str(e)


@pytest.fixture(scope="module")
def strict(small: World) -> Iterator[Engine]:
    """An engine whose every query is looked at before DuckDB runs it.

    Nothing but the answers of an ASK that happened to be right may be written.
    """
    before = _written(small)
    engine = small.engine()
    engine.sql("SET statement_timeout = 5")
    rows = Session._rows

    def watched(self: Session, connection: Any, sql: str, params: Any) -> Any:
        trees = parse_tokens(tokenize(sql), sql)
        assert len(trees) == 1 and isinstance(trees[0], exp.Query), sql
        names = [t.name for t in trees[0].find_all(exp.Table) if isinstance(t.this, exp.Identifier)]
        assert all(
            re.fullmatch(r"b_[a-z_]+|f\d+|chosen\d+|scenes_of_speech|speech_of_scenes", n)
            for n in names
        ), sql
        return rows(self, connection, sql, params)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "_rows", watched)
        yield engine
    assert _written(small) == before


def _written(world: World) -> dict[str, int]:
    """The version of every table but `answers`."""
    versions = world.archive.snapshot().versions
    return {table: version for table, version in versions.items() if table != "answers"}


def tried(engine: Engine, sql: str) -> None:
    """Runs it: it works, or fails with one line of ours that shows nothing of our inside."""
    try:
        engine.sql(sql, cached=True)
    except ReelError as e:
        assert "\n" not in str(e) and "sqlglot" not in str(e)
        assert not isinstance(e, TimeoutExceeded)


STARTS = ["SELECT ", "", "EXPLAIN SELECT ", "ASK 'x' FROM ", "FROM scenes ", "SELECT * FROM ",
          "WITH a AS (", "SELECT 1 FROM scenes WHERE ", "SELECT (SELECT "]  # fmt: skip


@given(start=st.sampled_from(STARTS), words=st.lists(st.sampled_from(WORDS), max_size=25))
@settings(max_examples=400, deadline=None)
def test_any_row_of_words_runs_or_is_one_of_our_errors(
    strict: Engine, start: str, words: list[str]
) -> None:
    tried(strict, start + " ".join(words))


PIECES = re.compile(r"\w+|'[^']*'|\s+|[^\w\s]")


@st.composite
def mangled(draw: st.DrawFn) -> str:
    """A valid statement with a word or two dropped, doubled, exchanged, turned or put in."""
    seed, lazy = draw(st.integers(0, 10**6)), draw(st.booleans())
    pieces = PIECES.findall(Generator(seed).query() if lazy else Stored(seed).query())
    for _ in range(draw(st.integers(1, 3))):
        i, j = (draw(st.integers(0, len(pieces) - 1)) for _ in range(2))
        word = draw(st.sampled_from(WORDS))
        change = draw(st.integers(0, 6))
        if change == 0:
            pieces[i] = ""
        elif change == 1:
            pieces[i] = word
        elif change == 2:
            pieces[i] += f" {word} "
        elif change == 3:
            pieces[i], pieces[j] = pieces[j], pieces[i]
        elif change == 4:
            pieces[i:i] = pieces[i : i + 8]
        elif change == 5:
            pieces[i] = pieces[i][::-1]
        else:
            del pieces[max(i, 1) :]
    return "".join(pieces)


@given(sql=mangled())
@settings(max_examples=200, deadline=None)
def test_a_mangled_statement_runs_or_is_one_of_our_errors(strict: Engine, sql: str) -> None:
    tried(strict, sql)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Engine, duckdb.DuckDBPyConnection]:
    """An engine over made-up rows, and an ordinary DuckDB that holds the same."""
    archive = make_archive(
        tmp_path_factory.mktemp("stored") / "archive",
        [
            synthetic_video(
                "a.mp4", [(0, 2), (2, 5), (5, 5.5)], note="", damaged=True,
                subtitles=[(0, 1, "hello"), (1, 2, "it's")],
            ),
            synthetic_video(
                "b.mp4", [(0, 1.5), (1.5, 3)], width=320, codec="vp9", space=None,
                subtitles=[(0, 1, "ünï %"), (0.5, 3, "hello")],
            ),
            synthetic_video("ünï x.mkv", [(0, 4)], has_audio=False, lost_frames=3),
            synthetic_video("a.mp4", [(0, 1)], folder="/other"),
        ],
    )  # fmt: skip
    snapshot = archive.snapshot()
    plain = duckdb.connect(config={"threads": "1"})
    for name in RELATIONS:
        plain.register(f"in_{name}", snapshot.relation(name))
        plain.execute(f"CREATE TABLE {name} AS SELECT * FROM in_{name}")
    return Engine(archive, Models({"embedder": "none", "captioner": "none"})), plain


def as_text(value: Any) -> Any:
    """Values without what an order of adding changes, and without kinds of number."""
    if isinstance(value, list | tuple):
        return [as_text(v) for v in value]
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return f"{float(value):.9g}"
    return value


@pytest.mark.parametrize("seed", range(100))
def test_a_random_select_over_stored_columns_equals_plain_duckdb(
    stored: tuple[Engine, duckdb.DuckDBPyConnection], seed: int
) -> None:
    engine, plain = stored
    sql = Stored(seed).query()
    want: list[str] | None = None
    with suppress(duckdb.Error):
        want = [repr(as_text(r)) for r in plain.execute(sql).fetchall()]
    if want is None:  # a cast that fails, mostly: then it fails here too
        with pytest.raises(ReelError):
            engine.sql(sql, cached=True)
        return
    got = [repr(as_text(r)) for r in engine.sql(sql, cached=True).fetchall()]
    ordered = "ORDER BY 1" in sql.rsplit(")", 1)[-1]
    assert (got if ordered else sorted(got)) == (want if ordered else sorted(want))


def test_a_parsed_select_prints_and_parses_to_the_same() -> None:
    for seed in range(150):
        statement = parse(Stored(seed).query())
        assert isinstance(statement, Select)
        text = sql_of(statement.tree)
        again = parse(text)
        assert isinstance(again, Select)
        assert sql_of(again.tree) == text


@pytest.mark.parametrize("seed", range(60))
def test_a_random_select_equals_the_fully_filled_one(
    small: World, oracles: list[Oracle], seed: int
) -> None:
    sql, salt = Generator(seed).query(), seed % 2
    want, ordered = oracles[salt].run(sql), is_ordered(sql)
    result = run_bounded(small, small.engine(salt), sql)
    assert result.status == "complete"
    assert rows_of(result.fetchall(), ordered) == rows_of(want, ordered)


@pytest.mark.parametrize("seed", range(60, 85))
def test_a_random_select_under_a_random_budget_gives_no_wrong_row(
    small: World, oracles: list[Oracle], seed: int
) -> None:
    sql, salt = Generator(seed).query(), seed % 2
    result = small.engine(salt).sql(sql, budget={"calls": seed % 37})
    extra = Counter(map(repr, result)) - Counter(map(repr, oracles[salt].run(sql)))
    assert not extra
