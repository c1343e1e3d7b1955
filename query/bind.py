"""Names to things: every column of a query is tied to the relation it comes from.

Leaves a tree in which each FROM item has an alias of its own over the whole statement (`r0`,
`r1` ...), every column names its alias, stars and aliases are written out, CTEs stand where
they are used, SEMI and ANTI JOIN are EXISTS, USING is ON. Raises BindError with a position and
the near misses.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from reeldb.query.allow import place_of
from reeldb.query.clauses import Clauses
from reeldb.query.dialect import sql_of
from reeldb.query.expressions import fresh, like, ordinal, quoted
from reeldb.query.frame_choice import FrameChoice
from reeldb.query.from_clause import FromClause
from reeldb.query.resolve import Resolver
from reeldb.query.scope import Cte, Field, Role, Scope
from reeldb.query.select_list import SelectList
from reeldb.schema.errors import BindError, PlanError, near

MOST_NODES = 40_000  # CTEs are written out where they are used


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound query: its tree, the names of its columns as users see them, and the user's name
    of each alias."""

    tree: exp.Query
    names: tuple[str, ...]
    said: dict[str, str]
    choices: dict[str, FrameChoice] = field(default_factory=dict)  # by the name of their table


def bind(
    tree: exp.Query,
    sql: str,
    find_video: Callable[[str], str],
    values: Mapping[str, object] | None = None,
) -> Bound:
    """`find_video` gives the id of a video by name or id, or raises BindError; `values` are the
    bound parameters."""
    binder = Binder(sql, find_video, values or {})
    wrapper = exp.Subquery(this=tree.copy())
    _, names = binder.query(wrapper.this, None, {}, "top")
    return Bound(wrapper.this.pop(), tuple(names), binder.said, binder.choices)


class Binder:
    """Binds one statement."""

    def __init__(
        self, sql: str, find_video: Callable[[str], str], values: Mapping[str, object]
    ) -> None:
        self.sql, self.find_video, self.values = sql, find_video, values
        self.choices: dict[str, FrameChoice] = {}
        self.numbers = itertools.count()
        self.nodes = 0
        self.said: dict[str, str] = {}

    def error(self, node: exp.Expr, message: str, hint: str = "") -> BindError:
        return BindError(f"{message}{place_of(node, self.sql)}{'; ' + hint if hint else ''}")

    # Queries

    def query(
        self, node: exp.Expr, parent: Scope | None, ctes: dict[str, Cte], role: Role
    ) -> tuple[list[Field], list[str]]:
        """Binds in place; gives the fields by their inner names, and the names users see."""
        node = self.plain(node)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, parent, ctes, role)
        if isinstance(node, exp.Select):
            return self._select(node, parent, ctes, role)
        raise self.error(node, f"{type(node).__name__} cannot stand here")

    def _select(
        self, node: exp.Select, parent: Scope | None, ctes: dict[str, Cte], role: Role
    ) -> tuple[list[Field], list[str]]:
        scope = Scope(parent, self.ctes_of(node, ctes))
        resolver = Resolver(self, scope)
        FromClause(self, node, scope, resolver).bind()
        fields, names = SelectList(self, node, scope, resolver, role).bind()
        Clauses(self, node, resolver).bind()
        self.bounds(node)
        return fields, names

    def new_alias(self) -> str:
        return f"r{next(self.numbers)}"

    def choice(self, choice: FrameChoice) -> str:
        """The name of the table of chosen frames; equal choices are made once."""
        for name, known in self.choices.items():
            if known == choice:
                return name
        name = f"chosen{len(self.choices)}"
        self.choices[name] = choice
        return name

    def fresh(self, node: exp.Expr) -> exp.Expr:
        """A copy of a bound expression, with aliases of its own where it holds queries."""

        def rename(alias: str) -> str:
            new = self.new_alias()
            self.said[new] = self.said.get(alias, alias)
            return new

        return fresh(node, rename)

    def plain(self, node: exp.Expr) -> exp.Expr:
        """Parentheses round a query off; VALUES and a modified subquery as a SELECT."""
        while isinstance(node, exp.Subquery):
            if any(node.args.get(k) for k in ("order", "limit", "offset", "with_", "joins")):
                inner = node.copy()
                outer = exp.select("*")
                for k in ("order", "limit", "offset", "with_"):
                    outer.set(k, inner.args.get(k))
                    inner.set(k, None)
                inner.set("alias", exp.TableAlias(this=exp.to_identifier("q")))
                node.replace(outer.from_(inner))
                return outer
            inner_query = node.this
            node.replace(inner_query)
            node = inner_query
        if isinstance(node, exp.Values):
            values = node.copy()
            if not values.args.get("alias"):
                values.set("alias", exp.TableAlias(this=exp.to_identifier("v")))
            select = exp.select("*").from_(values)
            node.replace(select)
            return select
        return node

    def ctes_of(self, node: exp.Expr, ctes: dict[str, Cte]) -> dict[str, Cte]:
        """The WITH entries that hold inside `node`, which loses its WITH."""
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        node.set("with_", None)
        inside = dict(ctes)
        for entry in clause.expressions:
            alias = entry.args["alias"]
            columns = [c.name for c in alias.columns]
            cte = Cte(alias.name, entry.this, columns, dict(inside))
            self.count(entry)
            self.query(exp.Subquery(this=entry.this.copy()).this, None, cte.ctes, "derived")
            inside[alias.name.lower()] = cte
        return inside

    def count(self, node: exp.Expr) -> None:
        self.nodes += sum(1 for _ in node.walk())
        if self.nodes > MOST_NODES:
            raise PlanError("the statement grows too large when its CTEs are written out")

    def _set_operation(
        self, node: exp.SetOperation, parent: Scope | None, ctes: dict[str, Cte], role: Role
    ) -> tuple[list[Field], list[str]]:
        ctes = self.ctes_of(node, ctes)
        left, names = self._operand(node.this, parent, ctes)
        right, right_names = self._operand(node.expression, parent, ctes)
        if node.args.get("by_name"):
            known = {n.lower() for n in names}
            more = [i for i, n in enumerate(right_names) if n.lower() not in known]
            left, names = (
                [*left, *(right[i] for i in more)],
                [*names, *(right_names[i] for i in more)],
            )
        elif len(left) != len(right):
            raise self.error(
                node,
                f"the two sides of {node.key.upper()} give {len(left)} and {len(right)} columns",
            )
        fields = [Field(f.name) for f in left]
        self._order_of_set(node, fields, names)
        self.bounds(node)
        return fields, names

    def _operand(
        self, node: exp.Expr, parent: Scope | None, ctes: dict[str, Cte]
    ) -> tuple[list[Field], list[str]]:
        """One side of a set operation; a nested set operation keeps its parentheses."""
        node = self.plain(node)
        if isinstance(node, exp.SetOperation):
            holder = exp.Subquery(this=node.copy())
            node.replace(holder)
            node = holder.this
        return self.query(node, parent, ctes, "operand")

    def _order_of_set(self, node: exp.SetOperation, fields: list[Field], names: list[str]) -> None:
        order = node.args.get("order")
        if order is None:
            return
        inner = {n.lower(): f.name for n, f in reversed([*zip(names, fields, strict=True)])}
        ordered: list[exp.Ordered] = []
        for item in order.expressions:
            key = item.this
            if isinstance(key, exp.Var) and key.name.upper() == "ALL":
                ordered += [like(item, quoted(f.name)) for f in fields]
                continue
            if (number := ordinal(key)) is not None:
                if not 1 <= number <= len(fields):
                    raise self.error(key, f"ORDER BY {number}: there are {len(fields)} columns")
                ordered.append(like(item, quoted(fields[number - 1].name)))
                continue
            for column in [*item.find_all(exp.Column)]:
                if column.name.lower() not in inner:
                    raise self.error(
                        column,
                        f"ORDER BY after a set operation: no column {column.name!r}",
                        near(column.name, names),
                    )
                column.replace(quoted(inner[column.name.lower()]))
            ordered.append(item)
        node.set("order", exp.Order(expressions=ordered))

    def bounds(self, node: exp.Expr) -> None:
        """LIMIT and OFFSET hold numbers, not columns; a negative one is refused here."""
        for part in ("limit", "offset"):
            clause = node.args.get(part)
            if clause is None:
                continue
            value = clause.expression
            if value is not None and value.find(exp.Column):
                raise self.error(value, f"{part.upper()} wants a number")
            if isinstance(value, exp.Neg) or (
                isinstance(value, exp.Literal) and (value.is_string or "." in str(value.this))
            ):
                raise self.error(
                    value, f"{part.upper()} {sql_of(value)}: give a whole number, 0 or more"
                )
