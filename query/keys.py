"""Key queries: which keys, still without a value, can matter to the result?

`SELECT DISTINCT <key> FROM <FROM of the blocks around>, <FROM of the block> WHERE <what must
hold up to this clause> AND <need> AND NOT <flag>`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from reeldb.query.logic import Logic, both, false
from reeldb.query.trees import (
    is_scan,
    joins,
    renamed,
    sources,
)
from reeldb.query.units import Slot, is_hidden, key_name


@dataclass(frozen=True, slots=True)
class Around:
    """An enclosing block: its FROM and WHERE, and when a tuple of it reaches the inner block."""

    body: exp.Select
    condition: exp.Expr


Chain = tuple[Around, ...]


def key_query(
    chain: Chain,
    inner: exp.Select,
    slot: Slot,
    conditions: Sequence[exp.Expr],
    crossed: Sequence[exp.Expr] = (),
) -> exp.Select:
    """`crossed` are further FROM items, every pair of which is asked about."""
    b = inner.copy()
    for source in crossed:
        b.append("joins", exp.Join(this=source.copy(), kind="CROSS"))
    b = b.where(both(*conditions), exp.not_(slot.ok), copy=False)
    for around in reversed(chain):
        b = _inside(around, b)
    b.set("expressions", [exp.alias_(slot.key, "k")])
    if slot.unit < 0 or not _is_one_scan(b):  # a scan has each key once
        b.set("distinct", exp.Distinct())
    b.set("order", exp.Order(expressions=[exp.Ordered(this=exp.column("k"))]))
    return b


def _is_one_scan(b: exp.Select) -> bool:
    clause = b.args.get("from_")
    return clause is not None and is_scan(clause.this) and not joins(b)


def _inside(around: Around, b: exp.Select) -> exp.Select:
    out = around.body.copy()
    if any(j.side in ("RIGHT", "FULL") for j in joins(b)):
        b = _pairs_first(b)
    clause = b.args.get("from_")
    items = [exp.Join(this=clause.this, kind="CROSS")] if clause is not None else []
    for join in [*items, *joins(b)]:
        if out.args.get("from_") is None:
            out.set("from_", exp.From(this=join.this))
        else:
            out.append("joins", join)
    wheres = [x.args["where"].this for x in (out, b) if x.args.get("where")]
    out.set("where", exp.Where(this=both(*(exp.paren(w.copy()) for w in wheres), around.condition)))
    return out


def _pairs_first(b: exp.Select) -> exp.Select:
    """RIGHT and FULL joins would keep rows of the inner FROM against the outer one as well: ask
    about all pairs instead, which are more."""
    out = b.copy()
    for join in joins(out):
        join.set("side", None)
        join.set("on", None)
        join.set("kind", "CROSS")
    return out


def coalesced(key: exp.Expr) -> exp.Expr:
    """A row that an outer join made up has a NULL key, and must still equal itself."""
    return exp.Coalesce(this=key.copy(), expressions=[exp.Literal.number(-1)])


def survivors(q: exp.Select) -> exp.Expr | None:
    """The tuples left by QUALIFY, DISTINCT ON, ORDER BY and LIMIT, as a condition on keys.

    None where a source has no key: then all tuples count, which is safe.
    """
    keys = [exp.column(key_name(s.alias), s.alias) for s in sources(q) if is_scan(s)]
    if not keys or len(keys) != len(sources(q)):
        return None
    inner = q.copy()
    inner.set("with_", None)
    columns = [exp.alias_(coalesced(k), f"x{i}") for i, k in enumerate(keys)]
    inner.set("expressions", columns)
    return _is_among(keys, renamed(inner))


def _is_among(keys: Sequence[exp.Expr], inner: exp.Select) -> exp.Expr:
    if len(keys) == 1:
        left: exp.Expr = coalesced(keys[0])
        columns: list[exp.Expr] = [exp.column("x0")]
    else:
        left = exp.Tuple(expressions=[coalesced(k) for k in keys])
        names: list[exp.Expr] = [exp.column(f"x{i}") for i in range(len(keys))]
        columns = [exp.Tuple(expressions=names)]
    among = exp.select(*columns).from_(inner.subquery("sv")).subquery()
    return exp.In(this=left, query=among)


def groups_that_may_stay(q: exp.Select, logic: Logic) -> exp.Expr | None:
    """HAVING <settled> AND <lazy>: only rows of groups that the settled part may keep."""
    having, group = q.args.get("having"), q.args.get("group")
    if having is None or group is None or not group.expressions:
        return None
    keys = list(group.expressions)
    if any(_not_plain(k, logic) for k in keys):
        return None
    if any(group.args.get(k) for k in ("grouping_sets", "cube", "rollup")):
        return None
    inner = exp.Select()
    for part in ("from_", "joins", "where", "group"):
        value = q.args.get(part)
        copied = [v.copy() for v in value] if isinstance(value, list) else value and value.copy()
        inner.set(part, copied)
    inner.set("having", exp.Having(this=_may_keep(having.this, logic)))
    key = exp.Tuple(expressions=[k.copy() for k in keys]) if len(keys) > 1 else keys[0].copy()
    inner.set("expressions", [exp.alias_(key.copy(), "x0")])
    among = exp.select("x0").from_(renamed(inner).subquery("sv")).subquery()
    null = exp.Is(this=key.copy(), expression=exp.Null())
    return exp.or_(exp.In(this=key.copy(), query=among), null) if len(keys) == 1 else exp.In(
        this=key.copy(), query=among
    )  # fmt: skip


def _not_plain(key: exp.Expr, logic: Logic) -> bool:
    if logic.flags(key) or logic.blocked(key):
        return True
    return key.find(exp.Literal, exp.Query) is not None


def _may_keep(e: exp.Expr, logic: Logic) -> exp.Expr:
    if isinstance(e, exp.Paren):
        return _may_keep(e.this, logic)
    if isinstance(e, (exp.And, exp.Or)):
        parts = [_may_keep(p, logic) for p in e.flatten()]
        return exp.paren(exp.and_(*parts) if isinstance(e, exp.And) else exp.or_(*parts))
    open_ = logic.flags(e) or logic.blocked(e) or e.find(exp.Query)
    return exp.Boolean(this=True) if open_ else e.copy()


def order_keys(source: exp.Expr, relation_order: Callable[[str], Sequence[str]]) -> list[exp.Expr]:
    """The columns that end an ORDER BY: the key of a scan, every column of anything else."""
    if is_scan(source):
        lazy = any(p.alias.startswith("__e_") for p in source.this.selects)
        if lazy:  # the numbers of its rows change while it is filled
            names = relation_order(str(source.this.args["from_"].this.name).removeprefix("b_"))
            return [exp.column(exp.to_identifier(n, quoted=True), source.alias) for n in names]
        return [exp.column(key_name(source.alias), source.alias)]
    if isinstance(source, exp.Subquery):
        q = source.this
        while isinstance(q, (exp.SetOperation, exp.Subquery)):
            q = q.this
        names = [p.alias_or_name for p in q.selects if not is_hidden(p.alias_or_name)]
        plain = [n for n, p in zip(names, q.selects, strict=False) if not _holds_null(p)]
        return [exp.column(exp.to_identifier(n, quoted=True), source.alias) for n in plain]
    alias = source.args.get("alias")
    columns = alias.columns if alias is not None else []
    return [exp.column(c.copy(), source.alias) for c in columns]


def _holds_null(projection: exp.Expr) -> bool:
    return isinstance(projection.unalias(), exp.Null)


__all__ = [
    "Around",
    "Chain",
    "false",
    "groups_that_may_stay",
    "key_query",
    "order_keys",
    "survivors",
]
