"""The statements that are not queries: SHOW TABLES, DESCRIBE, SET, and those that ASK runs."""

from __future__ import annotations

from reeldb.query import parse as ast
from reeldb.query.engine import Engine
from reeldb.query.params import Parameters
from reeldb.query.result import Result
from reeldb.schema.errors import BindError, PlanError, near
from reeldb.schema.relations import RELATIONS


def run_other(engine: Engine, statement: ast.Statement, parameters: Parameters) -> Result:
    match statement:
        case ast.ShowTables():
            return show_tables()
        case ast.Describe(relation):
            return describe(relation)
        case ast.SetVariable(name, value):
            engine.variables = engine.variables.with_value(name, value)
            return Result.of(["name", "value"], [[name, str(getattr(engine.variables, name))]])
        case ast.Ask():
            return _ask(engine, statement)
    del parameters
    raise PlanError(f"{type(statement).__name__.upper()} is not built yet")


def show_tables() -> Result:
    rows = [[r.name, "lazy" if r.lazy else "stored", r.about] for r in RELATIONS.values()]
    return Result.of(["relation", "kind", "about"], rows)


def describe(name: str) -> Result:
    relation = RELATIONS.get(name.lower())
    if relation is None:
        raise BindError(f"no relation {name!r}: {near(name, RELATIONS)}")
    rows = [[c.name, c.type, c.kind, c.about] for c in relation.columns]
    return Result.of(["column", "type", "kind", "about"], rows)


def _ask(engine: Engine, statement: ast.Ask) -> Result:
    if statement.explain is not None:
        raise PlanError("EXPLAIN ASK is not built yet")
    from reeldb.query.ask import Question, ask

    using = statement.using
    budget = statement.budget
    named = ("captions", "calls", "seconds", "tokens", "usd")
    limits = {} if budget is None else {
        u: float(n) for u in named if (n := getattr(budget, u)) is not None
    }  # fmt: skip
    answer = ask(
        engine,
        Question(
            text=statement.question,
            choices=statement.choices,
            scope=statement.scope,
            strategy="auto" if using is None else using.name,
            options={} if using is None else using.options,
            budget=limits,
            statement=statement.text,
        ),
    )
    record = answer.record()
    return Result.of(list(record), [[_flat(v) for v in record.values()]])


def _flat(value: object) -> object:
    """Lists and objects as JSON: one row of plain columns."""
    import json

    return json.dumps(value) if isinstance(value, list | dict) else value
