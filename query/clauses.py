"""WHERE, GROUP BY, HAVING, QUALIFY, windows, ORDER BY, DISTINCT ON: names in, ordinals out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from reeldb.query.expressions import has_aggregate, like, ordinal
from reeldb.query.resolve import Resolver

if TYPE_CHECKING:
    from reeldb.query.bind import Binder


class Clauses:
    """The clauses of one SELECT beside FROM and the list."""

    def __init__(self, binder: Binder, node: exp.Select, resolver: Resolver) -> None:
        self.b, self.node, self.resolver = binder, node, resolver

    def bind(self) -> None:
        node = self.node
        for part in ("where", "having", "qualify"):
            if node.args.get(part) is not None:
                self.resolver.expression(node.args[part].this, part)
        self._group()
        for window in node.args.get("windows") or []:
            for e in [*window.iter_expressions()]:
                if not isinstance(e, exp.Identifier):
                    self.resolver.expression(e, "list")
        self._order()
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            on = distinct.args["on"]
            for i, e in enumerate([*on.expressions]):
                number = ordinal(e)
                if number is not None:
                    on.expressions[i].replace(self._nth(e, number, "DISTINCT ON"))
                else:
                    self.resolver.expression(e, "order")

    def _group(self) -> None:
        group = self.node.args.get("group")
        if group is None:
            return
        if group.args.get("all"):
            keys = [self.b.fresh(p.unalias()) for p in self.node.selects if not has_aggregate(p)]
            self.node.set("group", exp.Group(expressions=keys) if keys else None)
            return
        for e in [*group.iter_expressions()]:
            number = ordinal(e)
            if number is not None:
                e.replace(self._nth(e, number, "GROUP BY"))
            else:
                self.resolver.expression(e, "group")

    def _order(self) -> None:
        order = self.node.args.get("order")
        if order is None:
            return
        ordered: list[exp.Ordered] = []
        for item in order.expressions:
            key = item.this
            if isinstance(key, exp.Var) and key.name.upper() == "ALL":
                ordered += [like(item, self.b.fresh(p.unalias())) for p in self.node.selects]
            elif (number := ordinal(key)) is not None:
                ordered.append(like(item, self._nth(key, number, "ORDER BY")))
            else:
                self.resolver.expression(key, "order")
                ordered.append(item)
        self.node.set("order", exp.Order(expressions=ordered))

    def _nth(self, node: exp.Expr, number: int, clause: str) -> exp.Expr:
        items = self.node.selects
        if not 1 <= number <= len(items):
            raise self.b.error(node, f"{clause} {number}: the list has {len(items)} columns")
        return self.b.fresh(items[number - 1].unalias())
