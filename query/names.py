"""Expressions of the plan in the user's own names."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from reeldb.query.dialect import label_of
from reeldb.query.units import NAME, Unit, slot_of


@dataclass(frozen=True, slots=True)
class Names:
    """`said` gives the user's name of each alias.

    `silent`: the plan is run and not shown, so nobody reads what its nodes say.
    """

    said: dict[str, str]
    units: tuple[Unit, ...]
    silent: bool = False

    def source(self, alias: str) -> str:
        return self.said.get(alias, alias)

    def label(self, column: exp.Expr) -> str:
        """What a slot or dense column stands for: `s.caption`, `matches(s.caption, 'x')`."""
        slot = slot_of(column)
        if slot is not None and slot.unit < 0:
            return f"rows of {self.source(slot.scan)}"
        match = NAME.match(column.name)
        table = str(column.args["table"].name) if column.args.get("table") else ""
        if match is not None and match[2]:
            return self.units[int(match[2])].label(self.source(table))
        return column.name

    def say(self, node: exp.Expr) -> str:
        """One line of SQL as the user would write it."""
        if self.silent:
            return ""
        holder = exp.Paren(this=node.copy())
        stops = (exp.Query, exp.Column)
        for n in [*holder.walk(prune=lambda n: isinstance(n, stops))]:
            if isinstance(n, exp.Query):
                n.replace(exp.Var(this="(...)"))
            elif isinstance(n, exp.Column):
                n.replace(exp.Var(this=self._column(n)))
        text = label_of(holder.this)
        return text if len(text) <= 200 else text[:197] + "..."

    def _column(self, column: exp.Column) -> str:
        if NAME.match(column.name):
            return self.label(column)
        name = column.name if column.name.isidentifier() else f'"{column.name}"'
        return f"{self.source(column.table)}.{name}" if column.table else name
