"""Lazy filling against the user's own text on DuckDB over fully filled tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.query.bounded import run_bounded
from tests.query.oracle import Oracle
from tests.query.world import World

SHAPES = dict(
    line.partition("|")[::2]
    for line in (Path(__file__).parent / "shapes.sql").read_text().splitlines()
)
SALTS = (0, 1)
MANY = {"captions": 10**6, "calls": 10**6}


@pytest.fixture(scope="module")
def oracles(world: World) -> dict[int, Oracle]:
    return {salt: Oracle(world, salt) for salt in SALTS}


def is_ordered(sql: str) -> bool:
    return "ORDER BY" in sql.rsplit(")", 1)[-1]


def rows_of(rows: list[tuple[Any, ...]], ordered: bool) -> list[str]:
    shown = [repr(r) for r in rows]
    return shown if ordered else sorted(shown)


@pytest.mark.parametrize(("name", "salt"), [(n, i % 2) for i, n in enumerate(SHAPES)])
def test_lazy_rows_equal_the_fully_filled_ones(
    world: World, oracles: dict[int, Oracle], name: str, salt: int
) -> None:
    sql = SHAPES[name]
    result = run_bounded(world, world.engine(salt), sql)
    assert result.status == "complete"
    ordered = is_ordered(sql)
    assert rows_of(result.fetchall(), ordered) == rows_of(oracles[salt].run(sql), ordered)
