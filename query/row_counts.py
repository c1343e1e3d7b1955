"""Rows of operators: how many may come out before anything is filled, or how many did.

Scans, joins and filters are counted by queries of their own; sorts and projections have the rows
of what lies below, a LIMIT no more than its number, a grouping no more than what it groups.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reeldb.query import plan as p
from reeldb.query.plan import Node
from reeldb.schema.counts import counted
from reeldb.schema.errors import ReelError

if TYPE_CHECKING:
    from reeldb.query.run import Running


@dataclass(frozen=True, slots=True)
class Rows:
    """`n` rows, or at most so many."""

    n: int
    exact: bool = True

    def at_most(self, n: int | None = None) -> Rows:
        return Rows(self.n if n is None else min(n, self.n), exact=False)


class RowCounts:
    """Rows by node of one plan; `exact` after a run."""

    def __init__(self, running: Running, *, exact: bool) -> None:
        self.running, self.exact = running, exact

    def said(self, node: Node) -> str:
        rows = self.rows(node)
        if rows is None:
            return ""
        count = counted(rows.n, "row")
        return count if rows.exact else f"at most {count}"

    def rows(self, node: Node) -> Rows | None:
        """None where nobody can tell."""
        below = [self.rows(c) for c in node.children[:2]]
        first = below[0] if below else None
        match node:
            case p.ScanRows() | p.SelectFrames() | p.Join() | p.Filter() if self._sql(node):
                return self._counted(node)
            case p.Project() if "unnest(" in node.text.lower():
                return None
            case p.Window():
                return first and first.at_most() if node.text else first
            case p.Fill() | p.Sort() | p.Project() | p.Derived():
                return first
            case p.Filter() | p.Distinct():
                return first and first.at_most()
            case p.Aggregate():
                return first and first.at_most() if node.text else Rows(1)
            case p.Limit():
                number = node.text.partition(" ")[0]
                if first is None or not number.isdigit():
                    return first and first.at_most()
                fits = first.exact and "offset" not in node.text
                return Rows(min(int(number), first.n), fits)
            case p.SetOperation():
                second = below[1]
                if first is None or second is None:
                    return None
                if node.text.startswith("UNION"):
                    sure = first.exact and second.exact and "ALL" in node.text
                    return Rows(first.n + second.n, sure)
                return first.at_most()
        return None

    def _sql(self, node: Node) -> str:
        return node.actual if self.exact else node.expected

    def _counted(self, node: Node) -> Rows | None:
        with suppress(ReelError):  # a count that takes too long is not worth the statement
            n = int(self.running.query(self._sql(node))["n"][0].as_py())
            return Rows(n, self.exact or not node.may_be_less)
        return None
