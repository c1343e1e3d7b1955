"""Small questions about bound SELECT trees, and copies of their parts."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from reeldb.query.expressions import has_aggregate
from reeldb.query.units import is_hidden, key_name


def sources(q: exp.Select) -> list[exp.Expr]:
    """The items of FROM, from left to right."""
    first = [q.args["from_"].this] if q.args.get("from_") else []
    return first + [j.this for j in q.args.get("joins") or []]


def joins(q: exp.Select) -> list[exp.Join]:
    return list(q.args.get("joins") or [])


def is_scan(node: exp.Expr) -> bool:
    """Whether a FROM item is a scan of a relation as `rewrite` writes it."""
    return (
        isinstance(node, exp.Subquery)
        and isinstance(node.this, exp.Select)
        and any(p.alias == key_name(node.alias) for p in node.this.selects)
        and any(isinstance(s, exp.Table) and s.name.startswith("b_") for s in sources(node.this))
    )


def is_aggregated(q: exp.Select) -> bool:
    if q.args.get("group") or q.args.get("having"):
        return True
    return any(has_aggregate(p) for p in q.selects)


def has_window(node: exp.Expr) -> bool:
    return any(
        isinstance(n, exp.Window) for n in node.walk(prune=lambda n: isinstance(n, exp.Query))
    )


def has_unnest(node: exp.Expr) -> bool:
    return any(
        isinstance(n, exp.Explode) for n in node.walk(prune=lambda n: isinstance(n, exp.Query))
    )


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    if condition is None:
        return []
    if isinstance(condition, exp.Paren):
        return conjuncts(condition.this)
    if isinstance(condition, exp.And):
        return [c for part in condition.flatten() for c in conjuncts(part)]
    return [condition]


def defined(node: exp.Expr) -> set[str]:
    """The aliases that FROM clauses in `node` define, at any depth."""
    kinds = (exp.Table, exp.Subquery, exp.Unnest, exp.Values)
    return {str(n.alias) for n in node.find_all(*kinds) if n.alias}


def outer_names(node: exp.Expr) -> set[str]:
    """The aliases that `node` uses and does not define: not empty means correlated."""
    return {c.table for c in node.find_all(exp.Column) if c.table} - defined(node)


def visible(q: exp.Select) -> list[exp.Expr]:
    """The items of the SELECT list that users see."""
    return [p for p in q.selects if not is_hidden(p.alias)]


def prefix(q: exp.Select, n: int) -> exp.Select:
    """FROM with its first `n` items."""
    out = exp.Select()
    out.set("from_", q.args["from_"].copy())
    for join in joins(q)[: n - 1]:
        out.append("joins", join.copy())
    return out


def body(q: exp.Select, *, crossed: bool, where: Iterable[exp.Expr] = ()) -> exp.Select:
    """FROM with all its items; `crossed` leaves the conditions of the joins to `where`."""
    out = exp.Select()
    if q.args.get("from_"):
        out.set("from_", q.args["from_"].copy())
    for join in joins(q):
        join = join.copy()
        if crossed:
            join.set("on", None)
            join.set("kind", "CROSS")
        out.append("joins", join)
    conditions = [c.copy() for c in where]
    return out.where(*conditions, copy=False) if conditions else out


def renamed(b: exp.Select) -> exp.Select:
    """A copy whose own aliases differ, so that it can stand beside the same aliases."""
    b = b.copy()
    new = {s.alias: f"y{s.alias}" for s in sources(b)}
    for source in sources(b):
        alias = source.args["alias"]
        alias.set("this", exp.to_identifier(new[source.alias]))
    inside = {id(n) for s in sources(b) for n in s.walk()} if not _lateral(b) else set()
    for column in b.find_all(exp.Column):
        if id(column) not in inside and column.table in new:
            column.set("table", exp.to_identifier(new[column.table]))
    return b


def _lateral(b: exp.Select) -> bool:
    mine = {s.alias for s in sources(b)}
    return any(outer_names(s) & mine for s in sources(b))
