"""A statement run after its EXPLAIN, whose bounds it must keep."""

from __future__ import annotations

from reeldb.query import parse as ast
from reeldb.query.budget import Limits
from reeldb.query.cost import bounds
from reeldb.query.engine import Engine
from reeldb.query.explain import happened
from reeldb.query.prepare import prepare
from reeldb.query.result import Result
from reeldb.query.run import Running
from tests.query.world import World


def running(world: World, engine: Engine, sql: str, *, blind: bool = False) -> Running:
    statement = ast.parse(sql)
    assert isinstance(statement, ast.Select)
    snapshot = world.archive.snapshot()
    variables = engine.variables
    prepared = prepare(engine, snapshot, statement, (), variables, shown=True, blind=blind)
    limits = Limits.of({"calls": 10**6})
    with engine.session() as session:
        return Running(engine, session, prepared, limits, asks=not blind)


def run_bounded(world: World, engine: Engine, sql: str, *, blind: bool = False) -> Result:
    """The result; what EXPLAIN said was to be computed bounds what was, read by read."""
    before = running(world, engine, sql, blind=blind)
    before.start()
    most, total = bounds(before)
    assert before.budget.calls == 0
    after = running(world, engine, sql)
    result = after.result()
    for at, cost in happened(after).items():
        assert cost.made <= most[at].made
    assert after.budget.calls <= total.calls
    return result
