"""Names to things: every column of a query is tied to the relation it comes from.

Leaves a tree in which each FROM item has an alias of its own over the whole statement (`r0`,
`r1` ...), every column names its alias, stars and aliases are written out, CTEs stand where
they are used, SEMI and ANTI JOIN are EXISTS, USING is ON. Raises BindError with a position and
the near misses.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from reeldb.query.allow import place_of
from reeldb.query.dialect import label_of, sql_of
from reeldb.query.functions import LAZY_CALLS, is_aggregate, is_lazy_call, is_span_call, name_of
from reeldb.query.intervals import span_condition
from reeldb.query.scope import Common, Cte, Field, Scope, Source, relation_fields
from reeldb.schema.errors import BindError, PlanError, near
from reeldb.schema.relations import RELATIONS, Kind

Role = Literal["top", "derived", "operand", "value", "exists"]
Clause = Literal["source", "list", "where", "group", "having", "qualify", "order"]
MOST_NODES = 40_000  # CTEs are written out where they are used


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound query: its tree, the names of its columns as users see them, and the user's name
    of each alias."""

    tree: exp.Query
    names: tuple[str, ...]
    said: dict[str, str]


def bind(tree: exp.Query, sql: str, find_video: Callable[[str], str]) -> Bound:
    """`find_video` gives the id of a video by name or id, or raises BindError."""
    binder = _Binder(sql, find_video)
    wrapper = exp.Subquery(this=tree.copy())
    _, names = binder.query(wrapper.this, None, {}, "top")
    return Bound(wrapper.this.pop(), tuple(names), binder.said)


class _Binder:
    def __init__(self, sql: str, find_video: Callable[[str], str]) -> None:
        self.sql, self.find_video = sql, find_video
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
        node = self._plain(node)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, parent, ctes, role)
        if isinstance(node, exp.Select):
            return _Block(self, node, parent, ctes, role).bind()
        raise self.error(node, f"{type(node).__name__} cannot stand here")

    def _plain(self, node: exp.Expr) -> exp.Expr:
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
        node = self._plain(node)
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
                ordered += [_like(item, _quoted(f.name)) for f in fields]
                continue
            if (number := _ordinal(key)) is not None:
                if not 1 <= number <= len(fields):
                    raise self.error(key, f"ORDER BY {number}: there are {len(fields)} columns")
                ordered.append(_like(item, _quoted(fields[number - 1].name)))
                continue
            for column in [*item.find_all(exp.Column)]:
                if column.name.lower() not in inner:
                    raise self.error(
                        column,
                        f"ORDER BY after a set operation: no column {column.name!r}",
                        near(column.name, names),
                    )
                column.replace(_quoted(inner[column.name.lower()]))
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


class _Block:
    """One SELECT."""

    def __init__(
        self,
        binder: _Binder,
        node: exp.Select,
        parent: Scope | None,
        ctes: dict[str, Cte],
        role: Role,
    ) -> None:
        self.b, self.node, self.role = binder, node, role
        self.scope = Scope(parent, binder.ctes_of(node, ctes))
        self.hands_through = role == "derived" and is_transparent(node)

    def bind(self) -> tuple[list[Field], list[str]]:
        self._from()
        fields, names = self._list()
        self._clauses()
        self.b.bounds(self.node)
        return fields, names

    # FROM

    def _from(self) -> None:
        clause = self.node.args.get("from_")
        if clause is not None:
            self._item(clause.this)
        joins, self.node.args["joins"] = self.node.args.get("joins") or [], []
        for join in self._flat(joins):
            self._join(join)

    def _flat(self, joins: Sequence[exp.Join]) -> list[exp.Join]:
        for join in joins:
            if join.this.args.get("joins"):
                raise self.b.error(join.this, "a join inside a join: put it into a derived table")
        return list(joins)

    def _join(self, join: exp.Join) -> None:
        if join.kind in ("SEMI", "ANTI"):
            self._semi_join(join)
            return
        before = list(self.scope.sources)
        self.node.append("joins", join)
        source = self._item(join.this)
        using = [i.name for i in join.args.get("using") or []]
        if join.method == "NATURAL":
            using = self._shared(join, before, source)
        join.set("using", None)
        join.set("method", None)
        if using:
            join.set("on", self._equal(join, using, before, source))
        elif join.args.get("on") is not None:
            self.expression(join.args["on"], "source")
        elif join.side:
            raise self.b.error(join.this, f"{join.side} JOIN wants ON or USING")
        elif join.kind == "INNER":
            join.set("kind", "CROSS")

    def _shared(self, join: exp.Join, before: list[Source], source: Source) -> list[str]:
        """NATURAL: the stored columns of one name on both sides."""
        there = {f.name for s in before for f in s.fields.values() if f.in_star}
        names = [f.name for f in source.fields.values() if f.in_star and f.name in there]
        if not names:
            raise self.b.error(join.this, "NATURAL JOIN: the two sides share no stored column")
        return names

    def _equal(
        self, join: exp.Join, using: Sequence[str], before: list[Source], source: Source
    ) -> exp.Expr:
        conditions: list[exp.Expr] = []
        for name in using:
            held = [s for s in self.scope.holders(name) if s in before]
            right = source.field(name)
            if not held or right is None:
                known = {f.name for f in source.fields.values()}
                raise self.b.error(
                    join.this, f"USING ({name}): not on both sides", near(name, known)
                )
            if len(held) > 1:
                raise self.b.error(join.this, f"USING ({name}): ambiguous on the left side")
            if right.kind != "stored" or held[0].fields[name.lower()].kind != "stored":
                raise self.b.error(
                    join.this, f"USING ({name}): join on stored columns, or write ON"
                )
            common = self.scope.common.get(name.lower())
            left = common.expression.copy() if common else held[0].column(name)
            conditions.append(exp.EQ(this=left.copy(), expression=source.column(name)))
            self._merge(name, join, left, held[0], source)
        return exp.and_(*conditions, copy=False)

    def _merge(
        self, name: str, join: exp.Join, left: exp.Expr, held: Source, source: Source
    ) -> None:
        right = source.column(name)
        value: exp.Expr = left.copy()
        if join.side == "RIGHT":
            value = right
        elif join.side == "FULL":
            value = exp.Coalesce(this=left.copy(), expressions=[right])
        common = self.scope.common.get(name.lower())
        sources = (common.sources if common else {held.alias}) | {source.alias}
        self.scope.common[name.lower()] = Common(value, sources)

    def _semi_join(self, join: exp.Join) -> None:
        """SEMI and ANTI JOIN as [NOT] EXISTS in WHERE."""
        inner = exp.select("1").from_(join.this.copy())
        exists: exp.Expr = exp.Exists(this=inner)
        if join.kind == "ANTI":
            exists = exp.Not(this=exists)
        self.node.where(exists, copy=False)
        condition = join.args.get("on")
        using = [i.name for i in join.args.get("using") or []]
        if condition is None and not using:
            raise self.b.error(join.this, f"{join.kind} JOIN wants ON or USING")
        if condition is not None:
            inner.where(condition.copy(), copy=False)
        name = join.this.alias_or_name
        for column in using:
            left = self.resolve(exp.column(column), "source")
            inner.where(exp.EQ(this=exp.column(column, name), expression=left), copy=False)

    def _item(self, node: exp.Expr) -> Source:
        if isinstance(node, exp.Table):
            source = self._table(node)
        elif isinstance(node, (exp.Subquery, exp.Lateral)):
            source = self._derived(node)
        elif isinstance(node, exp.Values):
            source = self._values(node)
        elif isinstance(node, exp.Unnest):
            source = self._series(node, "unnest")
        else:
            raise self.b.error(node, f"{type(node).__name__} cannot stand in FROM")
        twin = next((s for s in self.scope.sources if s.name.lower() == source.name.lower()), None)
        if twin is not None and twin.video == source.video:
            raise self.b.error(
                node, f"two items of FROM are called {source.name!r}: give one an alias"
            )
        self.scope.sources.append(source)
        self.b.said[source.alias] = source.name
        return source

    def _new_alias(self) -> str:
        return f"r{next(self.b.numbers)}"

    def _table(self, node: exp.Table) -> Source:
        if node.args.get("joins"):
            raise self.b.error(node, "a join in parentheses: put it into a derived table")
        if isinstance(node.this, exp.Func):
            return self._series(node, name_of(node.this))
        cte = self.scope.ctes.get(node.name.lower())
        if cte is not None and not node.args.get("db"):
            return self._cte(node, cte)
        if node.name.lower() not in RELATIONS:
            raise self._unknown_table(node)
        return self._relation(node)

    def _unknown_table(self, node: exp.Table) -> BindError:
        known = [*RELATIONS, *(c.name for c in self.scope.ctes.values())]
        return self.b.error(node, f"no relation {node.name!r}", near(node.name, known))

    def _relation(self, node: exp.Table) -> Source:
        name, alias = node.name.lower(), self._new_alias()
        as_written = node.args.get("alias")
        if as_written is not None and as_written.columns:
            raise self.b.error(
                node, f"{name} AS {as_written.name}(...): rename columns in a SELECT list"
            )
        video = node.args["db"].name if node.args.get("db") else None
        fields = relation_fields(name)
        table = exp.Table(this=exp.to_identifier(name), alias=_alias(alias))
        if video is not None:
            if "video_id" not in fields:
                raise self.b.error(node, f"{name} belongs to no video: write {name} alone")
            table.meta["video_id"] = self.b.find_video(video)
        said = node.alias_or_name
        node.replace(table)
        return Source(alias, said, fields, name, video)

    def _cte(self, node: exp.Table, cte: Cte) -> Source:
        body = cte.tree.copy()
        self.b.count(body)
        alias = node.args.get("alias")
        columns = [c.name for c in alias.columns] if alias is not None else []
        derived = exp.Subquery(this=body)
        said = node.alias_or_name
        node.replace(derived)
        return self._bound_derived(derived, said, columns or cte.columns, None, cte.ctes)

    def _derived(self, node: exp.Subquery | exp.Lateral) -> Source:
        if isinstance(node, exp.Lateral):
            inner = node.this
            if not isinstance(inner, exp.Subquery):
                return self._series(node, name_of(inner))
            inner.set("alias", node.args.get("alias"))
            node.replace(inner)
            node = inner
        if isinstance(node.this, exp.Table):
            raise self.b.error(node.this, "a join in parentheses: put it into a derived table")
        alias = node.args.get("alias")
        columns = [c.name for c in alias.columns] if alias is not None else []
        said = alias.name if alias is not None else f"unnamed{len(self.scope.sources)}"
        return self._bound_derived(node, said, columns, self.scope, self.scope.ctes)

    def _bound_derived(
        self,
        node: exp.Subquery,
        said: str,
        columns: Sequence[str],
        parent: Scope | None,
        ctes: dict[str, Cte],
    ) -> Source:
        alias = self._new_alias()
        node.set("alias", _alias(alias))
        fields, names = self.b.query(node.this, parent, ctes, "derived")
        if len(columns) > len(fields):
            raise self.b.error(node, f"{said} has {len(fields)} columns, not {len(columns)}")
        by_name: dict[str, Field] = {}
        for f, name in zip(fields, [*columns, *names[len(columns) :]], strict=True):
            name = f.name if name.lower() in by_name else name
            by_name[name.lower()] = Field(f.name, f.kind, f.named, name)
        return Source(alias, said, by_name)

    def _values(self, node: exp.Values) -> Source:
        alias = self._new_alias()
        as_written = node.args.get("alias")
        columns = [c.name for c in as_written.columns] if as_written is not None else []
        width = len(node.expressions[0].expressions) if node.expressions else 0
        if len(columns) > width:
            raise self.b.error(node, f"VALUES gives {width} columns, not {len(columns)}")
        for row in node.expressions:
            self.expression(row, "source")
        names = [*columns, *(f"col{i}" for i in range(len(columns), width))]
        node.set("alias", _alias(alias, names))
        said = as_written.name if as_written is not None and as_written.this else alias
        return Source(alias, said, {n.lower(): Field(n) for n in names})

    def _series(self, node: exp.Expr, function: str) -> Source:
        """unnest(...), range(...) and generate_series(...) in FROM: one column."""
        if function not in ("unnest", "range", "generate_series", "generateseries"):
            if function == "select_frames":
                raise self.b.error(node, "select_frames() is not built yet")
            raise self.b.error(node, f"{function}() cannot stand in FROM")
        series = node.this if isinstance(node, exp.Table) else None
        if isinstance(series, exp.GenerateSeries):
            function = "range" if series.args.get("is_end_exclusive") else "generate_series"
        as_written = node.args.get("alias")
        said = as_written.name if as_written is not None and as_written.this else function
        columns = [c.name for c in as_written.columns] if as_written is not None else []
        column = columns[0] if columns else said
        alias = self._new_alias()
        for argument in [*node.iter_expressions()]:
            if not isinstance(argument, exp.TableAlias):
                self.expression(argument, "source")
        node.set("alias", _alias(alias, [column]))
        return Source(alias, said, {column.lower(): Field(column)})

    # SELECT list

    def _list(self) -> tuple[list[Field], list[str]]:
        if self.role == "exists":
            for item in self.node.expressions:
                if not _is_star(item):
                    self.expression(item, "list")
            self.node.set("expressions", [exp.alias_(exp.Literal.number(1), "one")])
            return [Field("one")], ["one"]
        if not self.node.expressions:
            raise self.b.error(self.node, "SELECT wants a list of columns")
        out: list[tuple[exp.Expr, str, Field]] = []
        for item in [*self.node.expressions]:
            out += self._star(item) if _is_star(item) else [self._projection(item)]
        if not out:
            raise self.b.error(self.node, "the star gives no column here: name the columns")
        names = [name for _, name, _ in out]
        inner = _unique(names)
        projections = [
            exp.alias_(e, exp.to_identifier(n, quoted=True), copy=False)
            for (e, _, _), n in zip(out, inner, strict=True)
        ]
        self.node.set("expressions", projections)
        fields = [Field(n, f.kind, f.named) for (_, _, f), n in zip(out, inner, strict=True)]
        return fields, names

    def _projection(self, item: exp.Expr) -> tuple[exp.Expr, str, Field]:
        written = item.unalias()
        column = written.unnest()
        if isinstance(item, exp.Alias):
            name = item.alias
        else:
            name = column.name if isinstance(column, exp.Column) else label_of(item)
        field = Field(name)
        if isinstance(column, exp.Column):
            bound = self.resolve(column, "list", pictures=self.hands_through)
            if self.hands_through:
                field = Field(name, self._kind(bound), named=True)
            expression: exp.Expr = bound
        else:
            holder = exp.Paren(this=written.copy())
            self.expression(holder.this, "list")
            expression = holder.this
        if isinstance(item, exp.Alias) or isinstance(expression, exp.Column):
            self.scope.aliases.setdefault(name.lower(), expression.copy())
        return expression, name, field

    def _kind(self, bound: exp.Expr) -> Kind:
        if isinstance(bound, exp.Column):
            for source in self.scope.sources:
                for field in source.fields.values():
                    if source.alias == bound.table and field.name == bound.name:
                        return field.kind
        return "stored"

    def _star(self, item: exp.Expr) -> list[tuple[exp.Expr, str, Field]]:
        star = item.this if isinstance(item, exp.Column) else item
        table = item.table if isinstance(item, exp.Column) else ""
        sources = self.scope.sources
        if table:
            source = self.scope.source(table)
            if source is None or source not in sources:
                raise self.b.error(
                    item,
                    f"{table}.*: no such relation here",
                    near(table, [s.name for s in sources]),
                )
            sources = [source]
        elif not sources:
            raise self.b.error(item, "* wants a FROM clause")
        without = {e.name.lower() for e in star.args.get("except_") or []}
        replaced = {e.alias.lower(): e for e in star.args.get("replace") or []}
        renamed = {e.this.name.lower(): e.alias for e in star.args.get("rename") or []}
        out, known, merged = [], set(), set()
        for source in sources:
            for key, field in source.fields.items():
                known.add(key)
                common = self.scope.common.get(key) if not table else None
                if common is not None and source.alias in common.sources:
                    if key in merged:
                        continue
                    merged.add(key)
                elif key in without or not (self.hands_through or field.in_star):
                    continue
                if key not in without:
                    out.append(self._starred(key, field, source, common, replaced, renamed))
        for key in (without | set(replaced) | set(renamed)) - known:
            raise self.b.error(
                item, f"* EXCLUDE, REPLACE or RENAME: no column {key!r}", near(key, known)
            )
        return out

    def _starred(
        self,
        key: str,
        field: Field,
        source: Source,
        common: Common | None,
        replaced: dict[str, exp.Expr],
        renamed: dict[str, str],
    ) -> tuple[exp.Expr, str, Field]:
        if key in replaced:
            return self._projection(replaced[key])
        name = renamed.get(key, field.shown)
        if common is not None and source.alias in common.sources:
            return common.expression.copy(), name, Field(name)
        kind = field.kind if self.hands_through else "stored"
        return source.column(key), name, Field(name, kind, field.named)

    # The other clauses

    def _clauses(self) -> None:
        node = self.node
        for part in ("where", "having", "qualify"):
            if node.args.get(part) is not None:
                self.expression(node.args[part].this, part)
        self._group()
        for window in node.args.get("windows") or []:
            for e in [*window.iter_expressions()]:
                if not isinstance(e, exp.Identifier):
                    self.expression(e, "list")
        self._order()
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            on = distinct.args["on"]
            for i, e in enumerate([*on.expressions]):
                number = _ordinal(e)
                if number is not None:
                    on.expressions[i].replace(self._nth(e, number, "DISTINCT ON"))
                else:
                    self.expression(e, "order")

    def _group(self) -> None:
        group = self.node.args.get("group")
        if group is None:
            return
        if group.args.get("all"):
            keys = [p.unalias().copy() for p in self.node.selects if not has_aggregate(p)]
            self.node.set("group", exp.Group(expressions=keys) if keys else None)
            return
        for e in [*group.iter_expressions()]:
            number = _ordinal(e)
            if number is not None:
                e.replace(self._nth(e, number, "GROUP BY"))
            else:
                self.expression(e, "group")

    def _order(self) -> None:
        order = self.node.args.get("order")
        if order is None:
            return
        ordered: list[exp.Ordered] = []
        for item in order.expressions:
            key = item.this
            if isinstance(key, exp.Var) and key.name.upper() == "ALL":
                ordered += [_like(item, p.unalias().copy()) for p in self.node.selects]
            elif (number := _ordinal(key)) is not None:
                ordered.append(_like(item, self._nth(key, number, "ORDER BY")))
            else:
                self.expression(key, "order")
                ordered.append(item)
        self.node.set("order", exp.Order(expressions=ordered))

    def _nth(self, node: exp.Expr, number: int, clause: str) -> exp.Expr:
        items = self.node.selects
        if not 1 <= number <= len(items):
            raise self.b.error(node, f"{clause} {number}: the list has {len(items)} columns")
        return items[number - 1].unalias().copy()

    # Expressions

    def expression(self, root: exp.Expr, clause: Clause) -> None:
        """Binds every name below `root`, which must hang in a tree, in place."""
        stops = (exp.Query, exp.Column)
        branches = []
        for node in [*root.walk(prune=lambda n: isinstance(n, stops) or is_span_call(n))]:
            if isinstance(node, exp.Query):
                self._nested(node)
            elif is_span_call(node):
                node.replace(span_condition(node, self.scope, self.b.error))
            elif _is_star(node):
                if not isinstance(node, exp.Star) or not isinstance(node.parent, exp.Count):
                    raise self.b.error(node, "a star cannot stand here")
            elif isinstance(node, exp.Column):
                self._column(node, clause)
            elif isinstance(node, exp.If) and not isinstance(node.parent, exp.Case):
                branches.append(node)
        for node in reversed(branches):  # inner ones first
            node.replace(_as_case(node))

    def _nested(self, node: exp.Query) -> None:
        role: Role = "exists" if isinstance(node.parent, exp.Exists) else "value"
        inner = self.b._plain(node)
        if isinstance(inner, exp.Query) and not isinstance(node, exp.Subquery) and inner is node:
            self.b.query(inner, self.scope, self.scope.ctes, role)
            return
        # an operator wants its parentheses back
        holder = exp.Subquery(this=inner.copy())
        inner.replace(holder)
        self.b.query(holder.this, self.scope, self.scope.ctes, role)

    def _column(self, node: exp.Column, clause: Clause) -> None:
        if node.meta.get("bound") or _is_variable(node):
            return
        pictures = is_lazy_call(node.parent) and node.arg_key == "expressions" and node.index == 0
        bound = self.resolve(node, clause, pictures=pictures)
        if isinstance(bound, exp.Column) or not node.parent:
            node.replace(bound)
        else:
            node.replace(exp.paren(bound, copy=False))

    def resolve(self, node: exp.Column, clause: Clause, *, pictures: bool = False) -> exp.Expr:
        """What a written column means: a column of a source, or the expression of an alias."""
        parts = [p.name for p in node.parts]
        if clause == "order" and len(parts) == 1 and parts[0].lower() in self.scope.aliases:
            return self.scope.aliases[parts[0].lower()].copy()
        scope: Scope | None = self.scope
        while scope is not None:
            found = self._in_scope(scope, node, parts, pictures)
            if found is not None:
                return found
            aliases = scope.aliases if scope is self.scope and clause != "source" else {}
            if len(parts) == 1 and parts[0].lower() in aliases:
                return aliases[parts[0].lower()].copy()
            scope = scope.parent
        raise self._unknown(node, parts)

    def _in_scope(
        self, scope: Scope, node: exp.Column, parts: list[str], pictures: bool
    ) -> exp.Expr | None:
        for cut in (2, 1) if len(parts) > 2 else (1,):
            if len(parts) <= cut:
                continue
            video = parts[0] if cut == 2 else None
            source = next(
                (
                    s
                    for s in scope.sources
                    if s.name.lower() == parts[cut - 1].lower() and video in (None, s.video)
                ),
                None,
            )
            if source is not None:
                if source.field(parts[cut]) is None:
                    names = list(source.fields)
                    raise self.b.error(
                        node, f"{source.name} has no column {parts[cut]!r}", near(parts[cut], names)
                    )
                return self._dotted(node, source.column(parts[cut]), source, parts[cut:], pictures)
        held = scope.holders(parts[0])
        if len(held) > 1:
            either = " or ".join(f"{s.name}.{parts[0]}" for s in held)
            raise self.b.error(node, f"column {parts[0]!r} is ambiguous: write {either}")
        if not held:
            return None
        common = scope.common.get(parts[0].lower())
        if common is not None and held[0].alias in common.sources:
            return _dots(common.expression.copy(), parts[1:])
        return self._dotted(node, held[0].column(parts[0]), held[0], parts, pictures)

    def _dotted(
        self,
        node: exp.Column,
        column: exp.Column,
        source: Source,
        parts: list[str],
        pictures: bool,
    ) -> exp.Expr:
        field = source.fields[parts[0].lower()]
        if field.kind == "virtual" and not pictures:
            raise self.b.error(
                node,
                f"{parts[0]} is a picture, not a value: only functions take it, such as "
                f"{LAZY_CALLS['similarity']}",
            )
        column.meta.update(node.meta)
        column.this.meta.update(node.this.meta)
        return _dots(column, parts[1:])

    def _unknown(self, node: exp.Column, parts: list[str]) -> BindError:
        sources = self._all_sources()
        if len(parts) > 1 and not any(s.field(parts[0]) for s in sources):
            return self.b.error(
                node, f"no relation {parts[0]!r} here", near(parts[0], [s.name for s in sources])
            )
        if any(s.name.lower() == parts[0].lower() for s in sources):
            return self.b.error(
                node, f"{parts[0]} is a relation, not a value: name one of its columns"
            )
        known = {f for s in sources for f in s.fields} | set(self.scope.aliases)
        hint = near(parts[0], known) if known else "there is no FROM clause"
        quoted = "; a text stands in single quotes" if node.this.args.get("quoted") else ""
        return self.b.error(node, f"no column {parts[0]!r}", hint + quoted)

    def _all_sources(self) -> list[Source]:
        out: list[Source] = []
        scope: Scope | None = self.scope
        while scope is not None:
            out += scope.sources
            scope = scope.parent
        return out


# Trees


def is_transparent(node: exp.Select) -> bool:
    """Whether each row of the block is one row of its FROM clause."""
    if any(node.args.get(k) for k in ("group", "having", "distinct")):
        return False
    return not any(has_aggregate(e) or e.find(exp.Explode) for e in node.expressions)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an aggregate function of this very block stands in `node`."""
    for n in node.walk(prune=lambda n: isinstance(n, exp.Query)):
        if is_aggregate(n):
            above = n.parent
            while isinstance(above, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
                above = above.parent
            if not isinstance(above, exp.Window):
                return True
    return False


def _is_star(item: exp.Expr) -> bool:
    return isinstance(item, exp.Star) or (
        isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
    )


def _is_variable(node: exp.Column) -> bool:
    """Whether a lambda or comprehension round the column binds its name."""
    name = node.parts[0].name
    above = node.parent
    while above is not None and not isinstance(above, exp.Query):
        if isinstance(above, exp.Comprehension) and above.expression.name == name:
            return True
        if isinstance(above, exp.Lambda) and any(p.name == name for p in above.expressions):
            return True
        above = above.parent
    return False


def _as_case(node: exp.If) -> exp.Case:
    branch = exp.If(this=node.this.copy(), true=node.args["true"].copy())
    default = node.args.get("false")
    return exp.Case(ifs=[branch], default=default.copy() if default is not None else None)


def _ordinal(node: exp.Expr) -> int | None:
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        return int(str(node.this))
    return None


def _like(item: exp.Ordered, key: exp.Expr) -> exp.Ordered:
    """`key` in the direction of another ORDER BY item."""
    out = item.copy()
    out.set("this", key)
    return out


def _quoted(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _alias(name: str, columns: Sequence[str] = ()) -> exp.TableAlias:
    quoted = [exp.to_identifier(c, quoted=True) for c in columns]
    return exp.TableAlias(this=exp.to_identifier(name), columns=quoted or None)


def _dots(expression: exp.Expr, fields: Sequence[str]) -> exp.Expr:
    for name in fields:
        if isinstance(expression, exp.Column):
            expression = exp.Paren(this=expression)
        expression = exp.Dot(this=expression, expression=exp.to_identifier(name, quoted=True))
    return expression


def _unique(names: Sequence[str]) -> list[str]:
    """Different inner names, whatever their case; a second `a` is `a_1`."""
    out: list[str] = []
    taken = {n.lower() for n in names}
    seen: set[str] = set()
    for name in names:
        new, n = name, 0
        while new.lower() in seen or (n and new.lower() in taken):
            n += 1
            new = f"{name}_{n}"
        seen.add(new.lower())
        out.append(new)
    return out
