"""How large and how deep a statement is once its aliases and CTEs are written out.

Binding writes `SELECT f(a, a) AS b, f(b, b) AS c, ...` out, and every CTE where it is used, so
thirty short lines can stand for a billion. And what walks a tree by recursion (the printer) can
go only so deep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from reeldb.schema.errors import PlanError

MOST_NODES = 20_000
MOST_DEEP = 150

Refuse = Callable[[exp.Expr, str], Exception]


@dataclass(frozen=True, slots=True)
class Extent:
    nodes: int
    depth: int


def check_extent(tree: exp.Expr, refuse: Refuse) -> None:
    """Raises what `refuse` makes for a statement that is too deep, PlanError for one too large."""
    _Extents(refuse).query(tree, {})


class _Extents:
    def __init__(self, refuse: Refuse) -> None:
        self.refuse = refuse

    def query(self, node: exp.Expr, ctes: Mapping[str, Extent]) -> Extent:
        """The extent of a query, the CTEs it uses written out."""
        inside = dict(ctes)
        for entry in node.ctes if isinstance(node, exp.Query) else ():
            inside[entry.alias.lower()] = self.query(entry.this, inside)
        aliases: dict[str, Extent] = {}
        parts: list[exp.Expr] = []
        whole = Extent(1, 1)
        if isinstance(node, exp.Select):
            for item in node.expressions:
                size = self._part(item, inside, aliases)
                if isinstance(item, exp.Alias):
                    aliases.setdefault(item.alias.lower(), size)
                whole = _joined(whole, size)
        for name, value in node.args.items():
            if name == "with_" or (name == "expressions" and isinstance(node, exp.Select)):
                continue
            parts += value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, exp.Expr):
                whole = _joined(whole, self._part(part, inside, aliases))
        self._check(node, whole)
        return whole

    def _part(
        self, root: exp.Expr, ctes: Mapping[str, Extent], aliases: Mapping[str, Extent]
    ) -> Extent:
        """The extent of an expression or clause."""
        nodes = deepest = 0
        levels = {id(root): 1}
        for node in root.walk(prune=lambda n: isinstance(n, exp.Query)):
            level = levels.setdefault(id(node), self._level(node, levels))
            inner = self._written_out(node, ctes, aliases)
            nodes += inner.nodes
            deepest = max(deepest, level + inner.depth)
            if nodes > MOST_NODES or deepest > MOST_DEEP:
                self._check(node, Extent(nodes, deepest))
        return Extent(nodes, deepest)

    def _level(self, node: exp.Expr, levels: Mapping[int, int]) -> int:
        above = node.parent
        flat = isinstance(node, exp.Connector) and type(node) is type(above)
        return levels.get(id(above), 0) + (not flat)

    def _written_out(
        self, node: exp.Expr, ctes: Mapping[str, Extent], aliases: Mapping[str, Extent]
    ) -> Extent:
        """What comes in the place of one node."""
        if isinstance(node, exp.Query):
            return self.query(node, ctes)
        if isinstance(node, exp.Table) and not node.args.get("db"):
            return ctes.get(node.name.lower(), Extent(1, 0))
        if isinstance(node, exp.Column) and not node.args.get("table"):
            return aliases.get(node.name.lower(), Extent(1, 0))
        return Extent(1, 0)

    def _check(self, node: exp.Expr, extent: Extent) -> None:
        if extent.nodes > MOST_NODES:
            why = "the statement grows too large when its aliases and CTEs are written out"
            raise PlanError(str(self.refuse(node, why)))
        if extent.depth > MOST_DEEP:
            why = f"nested deeper than {MOST_DEEP} levels (aliases and CTEs written out)"
            raise self.refuse(node, why)


def _joined(whole: Extent, part: Extent) -> Extent:
    return Extent(whole.nodes + part.nodes, max(whole.depth, 1 + part.depth))
