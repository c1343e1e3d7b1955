from __future__ import annotations

import pytest

from reeldb.query import parse as ast
from reeldb.query.budget import Limits, parse_budget
from reeldb.query.dialect import parse_tokens, sql_of, tokenize
from reeldb.query.parse import parse
from reeldb.schema.errors import BudgetError, ParseError
from tests.query.generator import Generator


def refused(sql: str) -> str:
    with pytest.raises(ParseError) as caught:
        parse(sql)
    return str(caught.value)


def test_a_budget_is_cut_off_and_an_alias_called_budget_is_not() -> None:
    statement = parse("SELECT caption FROM scenes BUDGET 5 CAPTIONS, 90 seconds")
    assert isinstance(statement, ast.Select)
    assert statement.budget == Limits.of({"captions": 5, "seconds": 90})
    assert "BUDGET" not in sql_of(statement.tree).upper()
    named = parse("SELECT bytes budget FROM videos ORDER BY budget")
    assert isinstance(named, ast.Select)
    assert named.budget is None


def test_calls_bound_every_kind_and_other_kinds_keep_their_default() -> None:
    assert Limits.of({"calls": 7}).captions is None
    assert Limits.of({"captions": 1000}).chats == Limits.default().chats


def test_budgets_that_count_nothing_are_refused() -> None:
    assert "gives captions twice" in refused("SELECT 1 BUDGET 5 CAPTIONS, 6 CAPTIONS")
    assert "comma" in refused("SELECT 1 BUDGET 5 CAPTIONS LIMIT 3")
    with pytest.raises(BudgetError, match="whole number"):
        parse("SELECT 1 BUDGET 1.5 CALLS")
    with pytest.raises(BudgetError, match="one of captions"):
        parse_budget("5 bananas")


def test_explain_keeps_the_positions_of_the_text() -> None:
    assert "(line 2, column 3)" in refused("EXPLAIN ANALYZE SELECT 1,\n  pg_sleep(3)")


def test_ask_reads_question_choices_scope_strategy_and_budget() -> None:
    statement = parse(
        "ASK 'who falls?' CHOICES ('a cat', 'a boy') FROM scenes WHERE start_s < 600 "
        "USING tree(branch_width => 4, order => 'temporal', adaptive => false) BUDGET 20 CALLS"
    )
    assert isinstance(statement, ast.Ask)
    assert statement.question == "who falls?"
    assert statement.choices == ("a cat", "a boy")
    assert statement.scope == "scenes WHERE start_s < 600"
    assert statement.using == ast.Using(
        "tree", {"branch_width": 4, "order": "temporal", "adaptive": False}
    )
    assert statement.budget == Limits.of({"calls": 20})


def test_a_join_with_using_in_the_scope_of_ask_is_no_strategy() -> None:
    statement = parse("ASK 'x?' FROM scenes JOIN videos USING (video_id)")
    assert isinstance(statement, ast.Ask)
    assert statement.using is None


def test_the_small_statements_are_read() -> None:
    assert parse("SHOW TABLES;") == ast.ShowTables()
    assert parse("describe scenes") == ast.Describe("scenes")
    assert parse("SET captions = 'cached'") == ast.SetVariable("captions", "cached")
    assert parse("REPLAY 'abc'") == ast.Replay("abc")
    assert parse("SUMMARIZE VIDEO 'k.mp4' USING recursive") == ast.Summarize(
        "SUMMARIZE VIDEO 'k.mp4' USING recursive", "k.mp4", ast.Using("recursive")
    )


@pytest.mark.parametrize("sql", ["", " ;; ", "-- nothing", "/* nothing */"])
def test_an_empty_statement_says_what_can_start_one(sql: str) -> None:
    assert "SELECT" in refused(sql)


def test_names_near_a_function_are_suggested() -> None:
    assert "did you mean similarity" in refused("SELECT simillarity(image, 'x') FROM scenes")


def test_two_statements_are_refused_where_the_second_starts() -> None:
    assert "(line 1, column 9)" in refused("SELECT 1; SELECT 2")


@pytest.mark.parametrize(
    "sql",
    [
        "(" * 10_000,
        "SELECT " + "(" * 3_000 + "1" + ")" * 3_000,
        "SELECT " + "(" * 200 + "1" + ")" * 200,
        "SELECT " + "NOT " * 200 + "TRUE",
        "SELECT " + "- " * 200 + "1",
        "SELECT " + "CASE WHEN TRUE THEN " * 100 + "1" + " END" * 100,
        "SELECT " + "[" * 100 + "]" * 100,
        " UNION ".join(["SELECT 1"] * 100),
        "SELECT " + "1," * 10_000 + "1",
        "SELECT '" + "x" * 200_000 + "'",
    ],
)
def test_length_and_depth_are_bounded_before_anything_recursive(sql: str) -> None:
    message = refused(sql)
    assert "recursion" not in message.lower()
    assert len(message) < 200


def test_a_long_flat_condition_is_no_problem() -> None:
    parse("SELECT 1 FROM scenes WHERE " + " AND ".join(["scene_no > 1"] * 600))


@pytest.mark.parametrize("seed", range(60))
def test_what_is_parsed_prints_and_parses_again(seed: int) -> None:
    statement = parse(Generator(seed).query())
    assert isinstance(statement, ast.Select)
    text = sql_of(statement.tree)
    again = parse_tokens(tokenize(text), text)[0]
    assert again is not None
    assert sql_of(again) == text


def test_our_words_are_functions_and_not_keywords() -> None:
    for call in ("overlaps(a, b)", "describe(image, 'x')", "before(a, b)"):
        parse(f"SELECT 1 FROM scenes a, scenes b WHERE {call}")
