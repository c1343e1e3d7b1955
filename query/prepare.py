"""Preparing: from the text of a SELECT to a plan on one snapshot. Nothing is run.

Plans are kept by text, settings and names of videos (`engine.plans`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reeldb.index.snapshot import Snapshot
from reeldb.query import parse as ast
from reeldb.query.bind import bind
from reeldb.query.catalog import Catalog, relation_order
from reeldb.query.engine import Engine
from reeldb.query.order import add_total_order, order_last_block
from reeldb.query.params import Parameters, bind_parameters
from reeldb.query.plan import Plan
from reeldb.query.planner import plan_of
from reeldb.query.rewrite import rewrite
from reeldb.query.rules import RULES, tells_time
from reeldb.query.units import Unit
from reeldb.query.variables import Variables
from reeldb.schema.counts import counted
from reeldb.schema.errors import BindError, PlanError
from reeldb.schema.relations import RELATIONS

PICTURE_TOOLS = ("ocr", "objects")


def columns_of(engine: Engine, text: str, parameters: Parameters) -> list[str]:
    statement = ast.parse(text)
    if not isinstance(statement, ast.Select):
        raise PlanError("only a SELECT has columns to name")
    snapshot = engine.archive.snapshot()
    tree = statement.tree.copy()
    values = bind_parameters(tree, parameters)
    return list(bind(tree, statement.text, snapshot.find_video, values).names)


@dataclass(frozen=True, slots=True)
class Planned:
    """What the text of a statement comes to. It depends on the names of videos and on the models,
    and holds nothing of a snapshot, so it can be kept."""

    plan: Plan
    names: tuple[str, ...]
    values: Mapping[str, object]
    notes: tuple[str, ...]
    used: frozenset[str]  # the relations it names


@dataclass(slots=True)
class Prepared:
    """A statement that is planned but not run, on one snapshot."""

    catalog: Catalog
    plan: Plan
    names: tuple[str, ...]
    values: dict[str, object]
    variables: Variables
    notes: list[str]


def prepare(
    engine: Engine,
    snapshot: Snapshot,
    statement: ast.Select,
    parameters: Parameters,
    variables: Variables,
    *,
    shown: bool = False,
    blind: bool = False,
) -> Prepared:
    """Binds, applies the rules and plans. Touches no model beyond its name."""

    def make() -> Planned:
        return _planned(engine, snapshot, statement, parameters, variables, shown, blind)

    if parameters or shown or blind or tells_time(statement.tree):
        made = make()
    else:
        about = (statement.text, variables, snapshot.versions.get("videos"))
        made = engine.plans.get(about, make)
    catalog, notes = Catalog(snapshot), list(made.notes)
    if not variables.quiet:
        notes += _held_back(catalog, made.used, variables)
    return Prepared(catalog, made.plan, made.names, dict(made.values), variables, notes)


def _planned(
    engine: Engine,
    snapshot: Snapshot,
    statement: ast.Select,
    parameters: Parameters,
    variables: Variables,
    shown: bool,
    blind: bool,
) -> Planned:
    tree = statement.tree.copy()
    values = bind_parameters(tree, parameters)
    bound = bind(tree, statement.text, snapshot.find_video, values)
    query = bound.tree
    for rule in RULES:
        query = rule(query)
    notes: list[str] = []
    used = frozenset(query_relations(query))
    lazy_rows = _lazy_rows(engine, used, variables, notes)
    rewritten = rewrite(query, statement.text, values, lazy_rows)
    for unit in rewritten.units:
        _check_role(engine, unit)
    add_total_order(rewritten.tree, relation_order)
    if rewritten.units or lazy_rows:
        order_last_block(rewritten.tree, relation_order)
    plan = plan_of(rewritten, bound.said, bound.choices, shown=shown, blind=blind)
    return Planned(plan, bound.names, values, tuple(notes), used)


def query_relations(query: object) -> set[str]:
    from sqlglot import exp

    if not isinstance(query, exp.Query):
        return set()
    return {t.name for t in query.find_all(exp.Table) if t.name in RELATIONS}


def _lazy_rows(
    engine: Engine, used: frozenset[str], variables: Variables, notes: list[str]
) -> frozenset[str]:
    """The lazy relations that a tool may fill in this statement."""
    out = set()
    for name in sorted(used):
        role = RELATIONS[name].lazy
        if role is None or getattr(variables, role) == "cached":
            continue
        if engine.models.get(role) is not None:  # type: ignore[arg-type]
            out.add(name)
        elif role == "speech":
            notes.append(
                "no speech model is set: speech holds subtitles and what was stored; "
                "reel models set speech ADDRESS"
            )
        else:
            cure = f"reel models set {role} ADDRESS"
            notes.append(f"no {role} model is set: {name} holds what was stored; {cure}")
    return frozenset(out)


def _held_back(catalog: Catalog, used: frozenset[str], variables: Variables) -> list[str]:
    """What SET keeps tools from looking at, for the lazy relations of a statement."""
    out = []
    for name in sorted(used):
        role = RELATIONS[name].lazy
        if role is None or getattr(variables, role) != "cached":
            continue
        n = catalog.unlooked(role) if role in PICTURE_TOOLS else None
        if n == 0:
            continue
        rows = "holds what was stored" if n is None else (
            f"has no rows of {counted(n, 'picture')} that nobody has looked at"
        )  # fmt: skip
        out.append(
            f"SET {role} = 'cached': {name} {rows}; to look where a statement needs it: "
            f"SET {role} = 'lazy'"
        )
    return out


def _check_role(engine: Engine, unit: Unit) -> None:
    if unit.kind == "matches":
        role = unit.roles[-1]
        if engine.models.get(role) is None:
            raise BindError(
                f"matches({unit.column}, ...) needs a {role} model and none is set; name one: "
                f"reel models set {role} ADDRESS"
            )
