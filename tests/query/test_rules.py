"""Each rule against the plan without it: the same rows, never more calls."""

from __future__ import annotations

import pytest

from reeldb.query import prepare
from reeldb.query.engine import Engine
from tests.query.test_oracle import MANY, SHAPES, is_ordered, rows_of
from tests.query.world import World

NESTING = [n for n in SHAPES if "(SELECT" in SHAPES[n] or SHAPES[n].startswith("WITH")]


def rows_and_calls(engine: Engine, name: str) -> tuple[list[str], int]:
    result = engine.sql(SHAPES[name], budget=MANY)
    return rows_of(result.fetchall(), is_ordered(SHAPES[name])), int(result.stats["calls"])


@pytest.mark.parametrize("name", NESTING)
def test_merging_derived_tables_changes_no_row_and_costs_no_call(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged = rows_and_calls(world.engine(), name)
    monkeypatch.setattr(prepare, "RULES", ())
    plain = rows_and_calls(world.engine(), name)
    assert merged[0] == plain[0]
    assert merged[1] <= plain[1]


def test_merging_lets_the_outer_filter_reach_inside(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "derived lazy then outer filter"
    _, merged = rows_and_calls(world.engine(), name)
    monkeypatch.setattr(prepare, "RULES", ())
    _, plain = rows_and_calls(world.engine(), name)
    assert merged < plain / 5


def test_now_is_one_moment_of_a_statement(engine: Engine) -> None:
    sql = (
        "SELECT now(), current_timestamp, today() = current_date, "
        "(SELECT count(*) FROM videos WHERE added_at < now() - INTERVAL 1 DAY) FROM videos LIMIT 1"
    )
    now, same, today, old = engine.sql(sql).fetchall()[0]
    assert now == same
    assert today
    assert old == 12
