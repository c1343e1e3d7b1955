"""Rules: bound tree in, bound tree out, with the same rows and fewer barriers.

The tuple is the order in which they run. Every rule is tested by running the plan without it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sqlglot import exp

from reeldb.query.expressions import has_aggregate, is_transparent
from reeldb.query.functions import name_of
from reeldb.query.trees import has_unnest, has_window, joins, outer_names, sources

Rule = Callable[[exp.Query], exp.Query]


def merge_derived(tree: exp.Query) -> exp.Query:
    """Plain derived tables become part of the block around them, so that its filters, joins
    and LIMIT reach the lazy values inside.

    ```text
    SELECT d.a FROM (SELECT r.a FROM r WHERE r.b) AS d WHERE d.a > 1
    SELECT r.a FROM r WHERE r.b AND r.a > 1
    ```
    """
    for select in reversed([*tree.find_all(exp.Select)]):  # inner blocks first
        again = True
        while again:
            again = any(_merge(tree, select, item) for item in sources(select))
    return tree


def one_moment(tree: exp.Query) -> exp.Query:
    """now() and today() are the moment in which the statement starts, in UTC as all times are:
    the plan asks several queries, and they must agree.

    ```text
    SELECT ... WHERE r.added_at > now()
    SELECT ... WHERE r.added_at > CAST('2024-05-01 10:00:00.123456' AS TIMESTAMP)
    ```
    """
    moment = datetime.now(UTC).replace(tzinfo=None)
    for node in _moments(tree):
        if isinstance(node, exp.CurrentDate):
            node.replace(exp.cast(exp.Literal.string(str(moment.date())), "DATE"))
        else:
            node.replace(exp.cast(exp.Literal.string(str(moment)), "TIMESTAMP"))
    return tree


def tells_time(tree: exp.Query) -> bool:
    """Whether the same text is another plan a moment later."""
    return bool(_moments(tree))


def _moments(tree: exp.Query) -> list[exp.Expr]:
    nodes = tree.find_all(exp.CurrentTimestamp, exp.CurrentDate, exp.Anonymous)
    return [n for n in nodes if not isinstance(n, exp.Anonymous) or name_of(n) == "now"]


RULES: tuple[Rule, ...] = (merge_derived, one_moment)


def _merge(tree: exp.Query, outer: exp.Select, item: exp.Expr) -> bool:
    """Merges one FROM item into its block; False where it must stay."""
    if not isinstance(item, exp.Subquery) or not isinstance(item.this, exp.Select):
        return False
    inner = item.this
    if not _is_plain(inner) or outer_names(item) & {s.alias for s in sources(outer)}:
        return False
    holder = item.parent
    outside = joins(outer)
    if any(j.side in ("RIGHT", "FULL") for j in outside):
        return False
    if isinstance(holder, exp.Join) and holder.side:
        return False
    projections = {p.alias: p.unalias() for p in inner.selects}
    _replace_reads(tree, item, projections)
    _splice(outer, holder, inner)
    return True


def _is_plain(q: exp.Select) -> bool:
    stops = ("limit", "offset", "order", "qualify", "windows", "distinct", "group", "having")
    if any(q.args.get(k) for k in stops) or not q.args.get("from_"):
        return False
    if any(j.side for j in joins(q)) or not is_transparent(q):
        return False
    parts = [p.unalias() for p in q.selects]
    return not any(
        has_window(p) or has_unnest(p) or has_aggregate(p) or p.find(exp.Query) for p in parts
    )


def _replace_reads(tree: exp.Query, item: exp.Expr, projections: dict[str, exp.Expr]) -> None:
    alias = item.alias
    for column in [*tree.find_all(exp.Column)]:
        if column.table == alias:
            value = projections[column.name].copy()
            bare = isinstance(value, exp.Column)
            column.replace(value if bare else exp.paren(value, copy=False))


def _splice(outer: exp.Select, holder: exp.Expr | None, inner: exp.Select) -> None:
    """The inner FROM in place of the item, the inner WHERE beside the outer one."""
    first = inner.args["from_"].this
    more = joins(inner)
    outside = joins(outer)
    if isinstance(holder, exp.From):
        holder.set("this", first)
        outer.set("joins", [*more, *outside])
    elif isinstance(holder, exp.Join):
        at = next(i for i, j in enumerate(outside) if j is holder)
        on = holder.args.get("on")
        opened = exp.Join(this=first, kind="CROSS")
        outer.set("joins", [*outside[:at], opened, *more, *outside[at + 1 :]])
        if on is not None:
            outer.where(on.copy(), copy=False)
    if inner.args.get("where"):
        outer.where(inner.args["where"].this.copy(), copy=False)
