"""Plans as text. `UPDATE_GOLDEN=1 pytest` writes the files anew; review the diff."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from reeldb.query import parse as ast
from reeldb.query.budget import Limits
from reeldb.query.engine import Engine
from reeldb.query.explain import bounds, happened
from reeldb.query.plan import Node
from reeldb.query.run import Running, prepare
from tests.query.test_oracle import SHAPES
from tests.query.world import World

GOLDEN = Path(__file__).parent / "golden"
PLANS = [
    "select list after cheap filter",
    "two lazy preds AND",
    "self join, before",
    "LEFT JOIN lazy in ON",
    "NOT EXISTS correlated",
    "scalar subquery in select",
    "HAVING cheap + lazy",
    "QUALIFY cheap, lazy select",
    "LIMIT over join, lazy on both",
    "derived lazy then outer filter",
    "derived window then lazy",
    "INTERSECT in brackets",
    "ocr join scenes",
    "ocr_text",
]


def text_of(engine: Engine, sql: str) -> str:
    return "\n".join(str(row[0]) for row in engine.sql(f"EXPLAIN {sql}")) + "\n"


@pytest.mark.parametrize("name", PLANS)
def test_plans_are_as_reviewed(world: World, name: str) -> None:
    path = GOLDEN / f"{name.replace(' ', '_').replace(',', '')}.txt"
    shown = f"{SHAPES[name]}\n\n{text_of(world.engine(), SHAPES[name])}"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(shown)
    assert shown == path.read_text()


def test_no_golden_file_is_left_behind() -> None:
    names = {f"{n.replace(' ', '_').replace(',', '')}.txt" for n in PLANS}
    assert {p.name for p in GOLDEN.glob("*.txt")} == names


def running(world: World, engine: Engine, sql: str) -> Running:
    statement = ast.parse(sql)
    assert isinstance(statement, ast.Select)
    snapshot = world.archive.snapshot()
    prepared = prepare(engine, snapshot, statement, (), engine.variables, shown=True)
    limits = Limits.of({"calls": 10**6})
    with engine.session() as session:
        return Running(engine, session, prepared, limits)


@pytest.mark.parametrize("name", list(SHAPES)[::3])
def test_what_is_to_be_computed_bounds_what_is(world: World, name: str) -> None:
    before = running(world, engine := world.engine(), SHAPES[name])
    before.start()
    most, total = bounds(before)
    assert before.budget.calls == 0
    after = running(world, engine, SHAPES[name])
    after.result()
    for at, cost in happened(after).items():
        assert cost.made <= most[at].made
    assert after.budget.calls <= total.calls


def test_explain_calls_no_model(world: World) -> None:
    engine = world.engine()
    engine.sql("EXPLAIN SELECT video, caption, ocr_text FROM scenes WHERE matches(caption, 'x')")
    roles: tuple[Any, ...] = ("captioner", "chat", "ocr")
    for role in roles:
        model: Any = engine.models.get(role)
        assert model.requests == 0


def test_explain_tells_what_is_cached_and_analyze_what_happened(engine: Engine) -> None:
    sql = "SELECT scene_no, caption FROM scenes WHERE video = 'v1.mp4' AND scene_no < 5"
    assert "0 cached, at most 5 to compute (5 captions)" in text_of(engine, sql)
    lines = [r[0] for r in engine.sql(f"EXPLAIN ANALYZE {sql}")]
    assert any("0 cached, 5 computed" in line for line in lines)
    assert any("5 rows, complete" in line for line in lines)


def test_every_kind_of_node_prints_itself_in_one_line() -> None:
    kinds = Node.__subclasses__()
    assert len(kinds) > 12
    for kind in kinds:
        node = kind(text="x")
        assert node.line == f"{node.name} x"


def test_plans_are_values() -> None:
    from reeldb.query.plan import Filter, Limit

    assert Filter((Limit((), "3"),), "a") == Filter((Limit((), "3"),), "a")
    other: Node = Limit((), "a")
    assert Filter((), "a") != other
