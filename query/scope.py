"""Names in reach: what a FROM clause puts at hand, and how a name is looked up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from reeldb.schema.relations import RELATIONS, Kind

Role = Literal["top", "derived", "operand", "value", "exists"]


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a source.

    `name` is the one in the tree, `said` the one that users see (where it differs). `named` is
    False where only a star handed it on.
    """

    name: str
    kind: Kind = "stored"
    named: bool = False
    said: str = ""

    @property
    def shown(self) -> str:
        return self.said or self.name

    @property
    def in_star(self) -> bool:
        """Whether an outermost `*` shows it: a star never buys anything."""
        return self.kind == "stored" or (self.named and self.kind in ("lazy", "heavy"))


@dataclass(slots=True)
class Source:
    """One item of a FROM clause.

    `alias` is unique over the statement, `name` is what the user calls it, `relation` is set
    for a relation of the archive, `video` for `"name".relation`.
    """

    alias: str
    name: str
    fields: dict[str, Field]
    relation: str | None = None
    video: str | None = None

    def field(self, name: str) -> Field | None:
        return self.fields.get(name.lower())

    def column(self, name: str) -> exp.Column:
        """A bound column: meeting it again, the binder leaves it alone."""
        field = self.fields[name.lower()]
        column = exp.column(exp.to_identifier(field.name, quoted=True), self.alias)
        column.meta["bound"] = True
        return column


@dataclass(slots=True)
class Common:
    """A column that USING or NATURAL made one of two."""

    expression: exp.Expr
    sources: set[str]


@dataclass(slots=True)
class Cte:
    """A WITH entry: its tree as written and the entries that it can see."""

    name: str
    tree: exp.Expr
    columns: list[str]
    ctes: dict[str, Cte]


@dataclass(slots=True)
class Scope:
    """The names of one block, inside those of the blocks around it."""

    parent: Scope | None = None
    ctes: dict[str, Cte] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    common: dict[str, Common] = field(default_factory=dict)
    aliases: dict[str, exp.Expr] = field(default_factory=dict)

    def source(self, name: str, video: str | None = None) -> Source | None:
        """The source called so, here or in an enclosing block."""
        scope: Scope | None = self
        while scope is not None:
            for s in scope.sources:
                if s.name.lower() == name.lower() and video in (None, s.video):
                    return s
            scope = scope.parent
        return None

    def holders(self, column: str) -> list[Source]:
        """The sources of this block that have such a column, a common one counted once."""
        found = [s for s in self.sources if s.field(column) is not None]
        common = self.common.get(column.lower())
        if common is not None:
            rest = [s for s in found if s.alias not in common.sources]
            first = [s for s in found if s.alias in common.sources][:1]
            return first + rest
        return found


def relation_fields(name: str) -> dict[str, Field]:
    return {c.name: Field(c.name, c.kind) for c in RELATIONS[name].columns}
