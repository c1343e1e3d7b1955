"""The statements that are not queries: SHOW TABLES, DESCRIBE, SET, and those that ASK runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reeldb.query import parse as ast
from reeldb.query.dialect import sql_of
from reeldb.query.engine import Engine
from reeldb.query.params import Parameters, bind_parameters
from reeldb.query.result import Result, Status
from reeldb.schema.errors import BindError, PlanError, near
from reeldb.schema.relations import RELATIONS

if TYPE_CHECKING:
    from reeldb.query.answer import Answer
    from reeldb.query.ask import Confirm, Question
    from reeldb.query.operators.trace import Watch


def run_other(
    engine: Engine,
    statement: ast.Statement,
    parameters: Parameters,
    watch: Watch | None = None,
    confirm: Confirm | None = None,
) -> Result:
    match statement:
        case ast.ShowTables():
            return show_tables()
        case ast.Describe(relation):
            return describe(relation)
        case ast.SetVariable(name, value):
            engine.variables = engine.variables.with_value(name, value)
            return Result.of(["name", "value"], [[name, str(getattr(engine.variables, name))]])
        case ast.Ask():
            return _asked(
                engine, _question(statement, parameters), statement.explain, watch, confirm
            )
        case ast.Summarize():
            return _asked(engine, _summary(engine, statement), statement.explain, watch, confirm)
        case ast.Replay(id):
            from reeldb.query.replay import replay

            return _answered(replay(engine, id, watch))
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


def _asked(
    engine: Engine,
    question: Question,
    explain: ast.Explain | None,
    watch: Watch | None,
    confirm: Confirm | None,
) -> Result:
    from reeldb.query.ask import ask

    if explain is not None:
        from reeldb.query.explain_ask import explain_ask

        return explain_ask(engine, question, analyze=explain == "analyze")
    return _answered(ask(engine, question, watch, confirm))


def _summary(engine: Engine, statement: ast.Summarize) -> Question:
    from reeldb.query.summarize import summary_of

    using = statement.using or ast.Using("recursive")
    return summary_of(
        engine,
        statement.video,
        using.name,
        using.options,
        {} if statement.budget is None else statement.budget.amounts(),
        statement.text,
    )


def _question(statement: ast.Ask, parameters: Parameters) -> Question:
    from reeldb.query.ask import Question

    inner = ast.parse(f"SELECT * FROM {statement.scope or 'videos'}")
    assert isinstance(inner, ast.Select)
    values = bind_parameters(inner.tree, parameters)
    using = statement.using or ast.Using("auto")
    return Question(
        text=statement.question,
        choices=statement.choices,
        scope=f"({sql_of(inner.tree)}) AS reel_r" if statement.scope else None,
        strategy=using.name,
        options=using.options,
        budget={} if statement.budget is None else statement.budget.amounts(),
        parameters=values,
        statement=statement.text,
    )


def _answered(answer: Answer) -> Result:
    table = answer.table()
    status: Status = "partial" if answer.status == "partial" else "complete"
    return Result(table, table.column_names, status, list(answer.notes))
