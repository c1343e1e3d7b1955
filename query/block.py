"""One SELECT as plan nodes: its stages in the order in which they are filled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from reeldb.query import plan as p
from reeldb.query.dialect import sql_of
from reeldb.query.functions import is_aggregate
from reeldb.query.keys import Around, Chain, groups_that_may_stay, key_query, survivors
from reeldb.query.logic import Logic, both, own_queries, reads, true
from reeldb.query.order import chosen_order, is_order_known
from reeldb.query.plan import Node, TopRows
from reeldb.query.trees import (
    body,
    conjuncts,
    has_unnest,
    has_window,
    is_aggregated,
    is_scan,
    joins,
    outer_names,
    prefix,
    sources,
    visible,
)
from reeldb.query.units import slot_of, there_name
from reeldb.query.uses import Outer, Outers, Use, slot_read

if TYPE_CHECKING:
    from reeldb.query.planner import Planner


class BlockPlan:
    """One SELECT: its stages in order, as nodes."""

    def __init__(self, planner: Planner, q: exp.Select, chain: Outers) -> None:
        self.planner, self.q, self.chain = planner, q, chain
        self.now, self.names = planner.now, planner.names
        self.items, self.joins = sources(q), joins(q)
        self.outer = any(j.side for j in self.joins)
        self.where = conjuncts(q.args["where"].this) if q.args.get("where") else []
        inner_on = [c for j in self.joins if not self.outer for c in conjuncts(j.args.get("on"))]
        self.conditions = [*self.where, *inner_on]
        self.limit = q.args.get("limit")
        self.aggregated = is_aggregated(q)
        self.sure = self._is_sure()

    def _is_sure(self, items: int | None = None) -> bool:
        """Whether the rows that may come out of FROM (of its first `items`) and WHERE can be
        told before any fill."""
        if not all(o.sure for o in self.chain):
            return False
        if any(i.name in self.planner.unknown_choices for i in self.items[:items]):
            return False
        inside = [
            i.this for i in self.items[:items] if isinstance(i, exp.Subquery) and not is_scan(i)
        ]
        if any(self.planner.holds_slots(x) for x in inside):
            return False
        before = self.joins[: None if items is None else items - 1]
        on = [j.args["on"] for j in before if self.outer and j.args.get("on") is not None]
        return all(self.planner.ahead.settled(x) for x in on)

    def _around(self, logic: Logic) -> Chain:
        ahead = logic is self.planner.ahead
        return tuple(o.ahead if ahead else o.now for o in self.chain)

    def node(self) -> Node:
        node = self._from()
        node = self._where(node)
        node = self._late(node)
        return self._last(node)

    # FROM

    def _from(self) -> Node:
        node: Node | None = None
        for i, item in enumerate(self.items):
            own = self._item(i, item)
            if self.outer:
                own = self._rows_first(i, item, own)
            if node is None:
                node = own
                continue
            join = self.joins[i - 1]
            node = p.Join((node, own), self._join_text(join), **self._join_counts(i, join))
            if self.outer:
                node = self._outer_on(node, i, join)
        return node or p.Rows((), "one row")

    def _join_counts(self, i: int, join: exp.Join) -> dict[str, Any]:
        on = join.args.get("on")
        if on is None or self.chain:
            return {}
        rows = prefix(self.q, i + 1)
        known = self.planner.ahead.settled(on) and self._is_sure(i + 1)
        return self._counts(rows if known else None, rows)

    def _counts(
        self, expected: exp.Select | None, actual: exp.Select | None, *, may_be_less: bool = False
    ) -> dict[str, Any]:
        """The counting of a node's rows, in a plan that is shown."""
        if self.names.silent:
            return {}

        def count(rows: exp.Select | None) -> str:
            if rows is None:
                return ""
            counted = rows.copy()
            counted.set("expressions", [exp.alias_(exp.Count(this=exp.Star()), "n")])
            return sql_of(counted)

        return {
            "expected": count(expected), "actual": count(actual), "may_be_less": may_be_less,
        }  # fmt: skip

    def _rows_first(self, i: int, item: exp.Expr, node: Node) -> Node:
        """The rows of a lazy relation, before the ON of a later join drops what stands for
        them; those whose existence is part of an ON are asked for there."""
        there = [c for w in self.where for c in reads(w) if _is_existence_of(c, item.alias)]
        safe = self._safe(i + 1)

        def ask(u: Use, logic: Logic) -> exp.Select:
            return key_query(self._around(logic), prefix(self.q, i + 1), slot_read(u), safe)

        uses = [Use(c, c, "true") for c in there]
        return self.planner.fill(node, "FROM", uses, ask, sure=self._is_sure(i + 1))

    def _join_text(self, join: exp.Join) -> str:
        on = join.args.get("on")
        kind = (join.side or ("INNER" if on is not None else "CROSS")).upper()
        said = self._said(conjuncts(on))
        return f"{kind} ON {said}" if said else kind

    def _item(self, i: int, item: exp.Expr) -> Node:
        if is_scan(item):
            scan = self.planner.rewritten.scans[item.alias]
            said = self.names.source(item.alias)
            text = scan.relation if said == scan.relation else f"{scan.relation} AS {said}"
            where = f" [video {scan.video_id}]" if scan.video_id else ""
            text += where + self._search_said(scan.alias)
            rows = exp.select("*").from_(item.copy())
            if scan.lazy_rows:
                rows = rows.where(exp.column(there_name(scan.alias), scan.alias))
            return p.ScanRows((), text, scan.relation, **self._counts(rows, rows))
        if isinstance(item, exp.Subquery):
            child = self.planner.query(item.this, self._chain_of(i, item))
            return p.Derived((child,), self.names.source(item.alias))
        choice = self.planner.choices.get(item.name) if isinstance(item, exp.Table) else None
        if choice is not None:
            said = self.names.source(item.alias)
            rows = exp.select("*").from_(item.copy())
            counts = self._counts(None if self.planner.unknown_choices else rows, rows)
            alias = "" if said == "select_frames" else f" AS {said}"
            return p.SelectFrames((), f"{choice}{alias}", **counts)
        node: Node = p.Rows((), self.names.say(item))
        uses = [Use(c, item, "value") for c in reads(item)]
        safe = self._safe(i)
        before = prefix(self.q, i) if i else exp.Select()
        return self.planner.fill(
            node, "FROM", uses,
            lambda u, g: key_query(self._around(g), before, slot_read(u), [both(*safe)]),
        )  # fmt: skip

    def _search_said(self, alias: str) -> str:
        nearest = self.planner.nearest
        if nearest is None or nearest.scan != alias:
            return ""
        unit = self.planner.rewritten.units[nearest.unit]
        return f", the {nearest.rows} nearest by {unit.label(self.names.source(alias))}"

    def _chain_of(self, i: int, item: exp.Subquery) -> Outers:
        """What a derived table may refer to: earlier items (lateral), or the blocks around."""
        outer = outer_names(item)
        mine = {s.alias for s in self.items[:i]}
        if outer & mine:
            around = Around(prefix(self.q, i), both(*self._safe(i)))
            return (*self.chain, Outer(around, around, self.sure))
        return self.chain if outer else ()

    def _safe(self, n: int) -> list[exp.Expr]:
        """What is known of the WHERE conditions on the first `n` items before any fill, on the
        side that joins preserve."""
        if any(j.side in ("RIGHT", "FULL") for j in self.joins):
            return []
        left = {s.alias for s in self.items[:n]}
        mine = {s.alias for s in self.items}
        ahead = self.planner.ahead
        return [
            ahead.condition(c, "may_true") for c in self.where
            if (ahead.settled(c) or ahead.compared(c, "may_true") is not None)
            and not c.find(exp.Query)
            and {x.table for x in c.find_all(exp.Column)} & mine <= left
        ]  # fmt: skip

    def _outer_on(self, node: Node, i: int, join: exp.Join) -> Node:
        on = join.args.get("on")
        if on is None:
            return node
        safe = self._safe(i)

        def ask(u: Use, logic: Logic) -> exp.Select:
            need = logic.need(u.root, u.column, u.context)
            pairs = prefix(self.q, i)
            return key_query(
                self._around(logic), pairs, slot_read(u), [need, *safe], [self.items[i]]
            )

        uses = [Use(c, on, "true") for c in reads(on)]
        node = self.planner.fill(
            node, f"ON of {join.side or 'INNER'} JOIN", uses, ask, sure=self._is_sure(i)
        )
        pairs = prefix(self.q, i + 1)
        return _with(
            node,
            [self._nested(q, lambda _: Around(_crossed(pairs), true())) for q in own_queries(on)],
        )

    # WHERE

    def _where(self, node: Node) -> Node:
        uses = [Use(c, e, "true") for e in self.conditions for c in reads(e)]
        if self._stops_early():
            nested = self._nested_in_where()
            node = self.planner.fill(
                node, "WHERE", uses, self._ask_where, top=self._top_rows, sure=self.sure,
                cap=0 if self._rows_wanted() == 0 else None,
            )  # fmt: skip
        else:
            node = self.planner.fill(node, "WHERE", uses, self._ask_where, sure=self.sure)
            nested = self._nested_in_where()
        if not self.where:
            return _with(node, nested)
        settled = all(self.planner.ahead.settled(c) for c in self.conditions)
        counts = self._counts(
            self._done(self.planner.ahead) if self.sure and not self.chain else None,
            None if self.chain else self._done(self.now),
            may_be_less=not settled,
        )
        return p.Filter((node, *nested), self._said(self.where), **counts)

    def _item_said(self, item: exp.Expr) -> str:
        """An item of the list; one that is only handed on by its name."""
        handed_on = isinstance(item.unalias(), exp.Null)
        return str(item.alias) if handed_on else self.names.say(item.unalias())

    def _said(self, conditions: Sequence[exp.Expr]) -> str:
        """Conditions as the user wrote them, without those that we added."""
        shown = [c for c in conditions if not ((s := slot_of(c)) is not None and s.unit < 0)]
        return " AND ".join(self.names.say(c) for c in shown)

    def _nested_in_where(self) -> list[Node]:
        return [
            self._nested(q, partial(self._reach_of_where, e, q))
            for e in self.conditions
            for q in own_queries(e)
        ]

    def _reach_of_where(self, e: exp.Expr, q: exp.Query, logic: Logic) -> Around:
        return Around(self._body(), self._need(e, q, logic))

    def _body(self, where: Sequence[exp.Expr] = ()) -> exp.Select:
        return body(self.q, crossed=not self.outer, where=where)

    def _need(self, root: exp.Expr, target: exp.Expr, logic: Logic) -> exp.Expr:
        """When `target` in one condition can matter: the other conditions may be true."""
        others = [logic.condition(c, "may_true") for c in self.conditions if c is not root]
        return both(*others, logic.need(root, target, "true"))

    def _ask_where(self, u: Use, logic: Logic) -> exp.Select:
        return key_query(
            self._around(logic), self._body(), slot_read(u), [self._need(u.root, u.column, logic)]
        )

    def _nested(self, q: exp.Query, around: Callable[[Logic], Around]) -> Node:
        """A query nested in an expression; `around` gives the tuples that reach it."""
        outer = Outer(around(self.now), around(self.planner.ahead), self.sure)
        return p.Nested((self.planner.query(q, (*self.chain, outer)),))

    def _stops_early(self) -> bool:
        """Whether filling may stop as soon as LIMIT is met."""
        q = self.q
        if self.limit is None or self.chain or self.aggregated or q.args.get("distinct"):
            return False
        if any(has_window(x) or has_unnest(x) for x in q.selects) or q.args.get("qualify"):
            return False
        if _number(self.limit.expression) is None or self.limit.args.get("limit_options"):
            return False
        offset = q.args.get("offset")
        if offset is not None and _number(offset.expression) is None:
            return False
        return is_order_known(q, self.now) and not any(map(has_window, chosen_order(q)))

    def _rows_wanted(self) -> int | None:
        if self.limit is None or self.limit.args.get("limit_options"):
            return None
        n = _number(self.limit.expression)
        offset = self.q.args.get("offset")
        skipped = 0 if offset is None else _number(offset.expression)
        return None if n is None or skipped is None else n + skipped

    def _top_rows(self, uses: Sequence[Use]) -> TopRows:
        logic = self.now
        b = self._body([both(*(logic.condition(c, "may_true") for c in self.conditions))])
        must = both(*(logic.condition(c, "must_true", True) for c in self.conditions))
        columns = [exp.alias_(must, "m")]
        for i, use in enumerate(uses):
            slot = slot_read(use)
            # whether it matters: the rest of the row's conditions hold already (WHERE)
            need = both(logic.need(use.root, use.column, "true"), exp.not_(slot.ok))
            columns += [exp.alias_(slot.key, f"k{i}"), exp.alias_(need, f"n{i}")]
        b.set("expressions", columns)
        order = self.q.args.get("order")
        if order is not None:
            b.set("order", order.copy())
        return TopRows(self._rows_wanted() or 0, sql_of(b))

    # GROUP BY ... ORDER BY

    def _late(self, node: Node) -> Node:
        q = self.q
        roots = self._late_roots()
        uses = [Use(c, _aggregate_of(c, e), "value") for e in roots for c in reads(e)]

        def ask(u: Use, logic: Logic) -> exp.Select:
            known = logic is self.now or self._settled_before()
            stay = groups_that_may_stay(q, logic) if known else None
            return self._ask_row(u, logic, stay)

        node = self.planner.fill(node, self._late_clause(), uses, ask, sure=self.sure)
        nested = [self._nested(x, self._reach(e, x)) for e in roots for x in own_queries(e)]
        if self.aggregated:
            group = q.args.get("group")
            keys = [self.names.say(k) for k in group.expressions] if group is not None else []
            node = p.Aggregate((node,), f"by {', '.join(keys)}" if keys else "")
            if q.args.get("having") is not None:
                node = p.Filter((node,), f"HAVING {self.names.say(q.args['having'].this)}")
        if any(has_window(x) for x in q.selects) or q.args.get("qualify"):
            text = self.names.say(q.args["qualify"].this) if q.args.get("qualify") else ""
            node = p.Window((node,), f"QUALIFY {text}" if text else "")
        return _with(node, nested)

    def _reach(self, e: exp.Expr, inner: exp.Query) -> Callable[[Logic], Around]:
        """The tuples for which a query nested in a late clause matters."""

        def around(logic: Logic) -> Around:
            now = logic is self.now
            stay = groups_that_may_stay(self.q, logic) if now and _has_aggregate(e) else None
            needed = stay or _plain(logic.need(e, inner, "value"))
            return Around(self._done(logic), needed)

        return around

    def _late_clause(self) -> str:
        if self.aggregated:
            return "GROUP BY and aggregates"
        return "windows, ORDER BY or DISTINCT"

    def _late_roots(self) -> list[exp.Expr]:
        q = self.q
        roots: list[exp.Expr] = []
        if q.args.get("group") is not None:
            roots.append(q.args["group"])
        roots += [q.args[k].this for k in ("having", "qualify") if q.args.get(k) is not None]
        if q.args.get("order") is not None:
            roots.append(q.args["order"])
        roots += q.args.get("windows") or []
        distinct = q.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            roots.append(distinct.args["on"])
        return roots + [x.unalias() for x in visible(q) if self._is_late(x)]

    def _is_late(self, projection: exp.Expr) -> bool:
        distinct = self.q.args.get("distinct")
        whole = distinct is not None and distinct.args.get("on") is None
        return self.aggregated or whole or has_window(projection) or has_unnest(projection)

    def _done(self, logic: Logic) -> exp.Select:
        """The rows that WHERE leaves, or may leave."""
        if logic is self.now:
            return self._body(self.conditions)
        return self._body([both(*(logic.condition(c, "may_true") for c in self.conditions))])

    def _ask_row(self, u: Use, logic: Logic, keep: exp.Expr | None) -> exp.Select:
        need = _plain(logic.need(u.root, u.column, u.context))
        extra = [keep] if keep is not None else []
        return key_query(self._around(logic), self._done(logic), slot_read(u), [need, *extra])

    def _settled_before(self, *parts: str) -> bool:
        """Whether FROM, WHERE and these clauses hold nothing that is still missing."""
        clauses = [*self.conditions]
        for part in parts:
            value = self.q.args.get(part)
            clauses += value if isinstance(value, list) else [value] if value is not None else []
        return self.sure and all(self.planner.ahead.settled(c) for c in clauses)

    # The SELECT list

    def _last(self, node: Node) -> Node:
        q = self.q
        final = [x.unalias() for x in visible(q) if not self._is_late(x)]
        cut = self.limit is not None or q.args.get("qualify") or q.args.get("distinct")
        keep = survivors(q) if cut and not self.aggregated and final else None
        distinct = q.args.get("distinct")
        if distinct is not None:
            on = distinct.args.get("on")
            node = p.Distinct((node,), f"ON {self.names.say(on)}" if on is not None else "")
        node = self.planner.ordered(node, q)
        uses = [Use(c, e, "value") for e in final for c in reads(e)]
        cap = self._rows_wanted() if keep is not None else None
        told = keep is not None and self._settled_before("qualify", "order", "windows", "distinct")

        def kept(logic: Logic) -> exp.Expr | None:
            return keep.copy() if keep is not None and (told or logic is self.now) else None

        def ask(u: Use, logic: Logic) -> exp.Select:
            return self._ask_row(u, logic, kept(logic))

        node = self.planner.fill(node, "the SELECT list", uses, ask, cap, sure=self.sure)

        def around(e: exp.Expr, inner: exp.Query, logic: Logic) -> Around:
            need = _plain(logic.need(e, inner, "value"))
            return Around(self._done(logic), both(need, kept(logic)))

        nested = [self._nested(x, partial(around, e, x)) for e in final for x in own_queries(e)]
        text = ", ".join(self._item_said(x) for x in visible(q))
        return p.Project((node, *nested), text)


def _with(node: Node, nested: Sequence[Node]) -> Node:
    """The node with queries nested in its expressions shown below it."""
    return replace(node, children=(*node.children, *nested)) if nested else node


def _is_existence_of(column: exp.Column, alias: str) -> bool:
    slot = slot_of(column)
    return slot is not None and slot.unit < 0 and slot.scan == alias


def _crossed(b: exp.Select) -> exp.Select:
    """FROM with all pairs, whatever the last join says: ON is asked of every pair."""
    out = b.copy()
    last = joins(out)[-1]
    for part, value in (("on", None), ("side", None), ("kind", "CROSS")):
        last.set(part, value)
    return out


def _number(node: exp.Expr | None) -> int | None:
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        return int(str(node.this))
    return None


def _aggregate_of(column: exp.Expr, root: exp.Expr) -> exp.Expr:
    """The outermost aggregate round a slot: conditions outside it speak of groups, not rows."""
    best, node = root, column
    while node is not root and node.parent is not None:
        node = node.parent
        above = node.parent
        if (is_aggregate(node) or isinstance(node, exp.Filter)) and not isinstance(
            above, (exp.Window, exp.Filter)
        ):
            best = node
    return best


def _has_aggregate(e: exp.Expr) -> bool:
    return any(is_aggregate(n) for n in e.walk(prune=lambda n: isinstance(n, exp.Query)))


def _plain(condition: exp.Expr) -> exp.Expr:
    """A condition that a key query can hold: one over groups or windows counts as TRUE."""
    return true() if _has_aggregate(condition) or has_window(condition) else condition
