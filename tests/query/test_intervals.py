"""The interval functions against their definitions, on every small pair of spans and points."""

from __future__ import annotations

import duckdb
import pytest
from sqlglot import exp

from reeldb.query.dialect import parse_tokens, sql_of, tokenize
from reeldb.query.intervals import span_condition
from reeldb.query.scope import Field, Scope, Source
from reeldb.schema.errors import BindError

Row = tuple[float, float]  # a point is (t, t)
SPANS: list[Row] = [(a, b) for a in range(4) for b in range(a + 1, 5)]
POINTS: list[Row] = [(t, t) for t in range(5)]


def source(alias: str, point: bool) -> Source:
    columns = ["video_id", "t_s"] if point else ["video_id", "start_s", "end_s"]
    return Source(alias, alias, {c: Field(c) for c in columns})


def holds(call: str, a: Row, b: Row) -> bool:
    tree = parse_tokens(tokenize(f"SELECT {call}"), call)[0]
    assert isinstance(tree, exp.Select)
    scope = Scope(sources=[source("a", a[0] == a[1]), source("b", b[0] == b[1])])

    def error(node: exp.Expr, message: str, hint: str = "") -> BindError:
        return BindError(message)

    condition = sql_of(span_condition(tree.selects[0], scope, error))

    def table(name: str, row: Row) -> str:
        values = f"'v' video_id, {row[0]} start_s, {row[1]} end_s, {row[0]} t_s"
        return f"(SELECT {values}) {name}"

    sql = f"SELECT 1 FROM {table('a', a)}, {table('b', b)} WHERE {condition}"
    return bool(duckdb.execute(sql).fetchall())


def overlap(a: Row, b: Row) -> bool:
    if a[0] == a[1] and b[0] == b[1]:
        return a[0] == b[0]
    if a[0] == a[1]:
        return b[0] <= a[0] < b[1]
    if b[0] == b[1]:
        return a[0] <= b[0] < a[1]
    return a[0] < b[1] and b[0] < a[1]


PAIRS = [(a, b) for a in SPANS + POINTS for b in SPANS + POINTS][::3]


def test_exactly_one_of_before_overlaps_after_holds_for_any_pair() -> None:
    for a, b in PAIRS:
        found = [holds(f"{f}(a, b)", a, b) for f in ("before", "overlaps", "after")]
        assert sum(found) == 1, (a, b, found)
        assert found[1] == overlap(a, b)


def test_before_and_after_mirror_each_other() -> None:
    for a, b in PAIRS[::2]:
        assert holds("before(a, b)", a, b) == holds("after(b, a)", a, b)


def test_during_lies_inside() -> None:
    for a, b in PAIRS:
        inside = b[0] <= a[0] and a[1] <= b[1] if a[0] < a[1] else overlap(a, b)
        assert holds("during(a, b)", a, b) == inside, (a, b)


@pytest.mark.parametrize("seconds", [0, 1, 2])
def test_within_bounds_the_gap_either_way(seconds: int) -> None:
    for a, b in PAIRS[::2]:
        gap = max(0, b[0] - a[1], a[0] - b[1])
        assert holds(f"within(a, b, {seconds})", a, b) == (gap <= seconds), (a, b)
