"""Order: LIMIT makes it visible, so it must not depend on how values came about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from reeldb.query.keys import order_keys
from reeldb.query.logic import Logic
from reeldb.query.trees import is_aggregated, is_scan, sources, visible


def add_total_order(tree: exp.Query, relation_order: Callable[[str], Sequence[str]]) -> None:
    """LIMIT makes order visible: end every such ORDER BY in the keys of the sources."""
    for q in [*tree.find_all(exp.Select)]:
        if q.args.get("limit") is None:
            continue
        if is_aggregated(q) or _distinct_rows(q):
            keys = [x.unalias().copy() for x in visible(q)]
        else:
            keys = [k for s in sources(q) for k in order_keys(s, relation_order)]
        _end_order(q, keys)
    for u in [*tree.find_all(exp.SetOperation)]:
        if u.args.get("limit") is not None:
            names = [x.alias_or_name for x in _leftmost(u).selects]
            _end_order(u, [exp.column(exp.to_identifier(n, quoted=True)) for n in names])


def order_last_block(tree: exp.Query, relation_order: Callable[[str], Sequence[str]]) -> None:
    """Rows of a statement without ORDER BY come in key order, also where fills are joined in."""
    if not isinstance(tree, exp.Select) or tree.args.get("order") or tree.args.get("limit"):
        return
    if is_aggregated(tree) or tree.args.get("distinct"):
        return
    keys = [k for s in sources(tree) if is_scan(s) for k in order_keys(s, relation_order)]
    _end_order(tree, keys)


def _end_order(q: exp.Query, keys: Sequence[exp.Expr]) -> None:
    if not keys:
        return
    order = q.args.get("order") or exp.Order(expressions=[])
    for key in keys:
        item = exp.Ordered(this=key)
        item.meta["key"] = True
        order.append("expressions", item)
    q.set("order", order)


def chosen_order(q: exp.Query) -> list[exp.Expr]:
    """The ORDER BY that the user wrote. The keys behind it are always known: a row that stands
    for a look sorts where the rows of that look will stand."""
    order = q.args.get("order")
    return [o for o in order.expressions if not o.meta.get("key")] if order is not None else []


def is_order_known(q: exp.Select, logic: Logic) -> bool:
    """Whether the order of rows is known before any look, so that a LIMIT may stop early.

    A row that stands for a look carries the least that its bounded columns can be: in a rising
    order it sorts before all that the look can give.
    """
    for item in chosen_order(q):
        key = item.this.unnest() if isinstance(item, exp.Ordered) else item
        rising = not item.args.get("desc") and logic.is_bounded(key)
        if item.find(exp.Query) or (logic.flags(item) and not rising):
            return False
    return True


def _leftmost(q: exp.Expr) -> exp.Select:
    while isinstance(q, (exp.SetOperation, exp.Subquery)):
        q = q.this
    if not isinstance(q, exp.Select):
        raise AssertionError("a set operation of no SELECT")
    return q


def _distinct_rows(q: exp.Select) -> bool:
    distinct = q.args.get("distinct")
    return distinct is not None and distinct.args.get("on") is None
