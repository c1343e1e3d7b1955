"""Random text, random statements: the only errors are our own, and rows are right."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reeldb.query.engine import Engine
from reeldb.query.parse import parse
from reeldb.schema.errors import ReelError
from tests.query.generator import Generator
from tests.query.oracle import Oracle
from tests.query.test_oracle import MANY, is_ordered, rows_of
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
def strict(small: World) -> Engine:
    engine = small.engine()
    engine.sql("SET statement_timeout = 5")
    return engine


@given(words=st.lists(st.sampled_from(WORDS), max_size=25))
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_row_of_words_runs_or_is_one_of_our_errors(strict: Engine, words: list[str]) -> None:
    try:
        strict.sql("SELECT " + " ".join(words), cached=True)
    except ReelError as e:
        assert "\n" not in str(e)


@pytest.mark.parametrize("seed", range(60))
def test_a_random_select_equals_the_fully_filled_one(
    small: World, oracles: list[Oracle], seed: int
) -> None:
    sql, salt = Generator(seed).query(), seed % 2
    want, ordered = oracles[salt].run(sql), is_ordered(sql)
    result = small.engine(salt).sql(sql, budget=MANY)
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
