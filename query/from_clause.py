"""FROM: its items become sources with aliases of their own, its joins plain joins with ON.

SEMI and ANTI JOIN become [NOT] EXISTS in WHERE; USING and NATURAL become ON.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from reeldb.query.expressions import table_alias
from reeldb.query.functions import name_of
from reeldb.query.resolve import Resolver
from reeldb.query.scope import Common, Cte, Field, Scope, Source, relation_fields
from reeldb.query.select_frames import SCHEMA, read_call
from reeldb.schema.errors import BindError, near
from reeldb.schema.relations import RELATIONS

if TYPE_CHECKING:
    from reeldb.query.bind import Binder


class FromClause:
    """The FROM clause of one SELECT."""

    def __init__(self, binder: Binder, node: exp.Select, scope: Scope, resolver: Resolver) -> None:
        self.b, self.node, self.scope, self.resolver = binder, node, scope, resolver

    def bind(self) -> None:
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
            self.resolver.expression(join.args["on"], "source")
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
            left = self.resolver.resolve(exp.column(column), "source")
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
        name, alias = node.name.lower(), self.b.new_alias()
        as_written = node.args.get("alias")
        if as_written is not None and as_written.columns:
            raise self.b.error(
                node, f"{name} AS {as_written.name}(...): rename columns in a SELECT list"
            )
        video = node.args["db"].name if node.args.get("db") else None
        fields = relation_fields(name)
        table = exp.Table(this=exp.to_identifier(name), alias=table_alias(alias))
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
        alias = self.b.new_alias()
        node.set("alias", table_alias(alias))
        fields, names = self.b.query(node.this, parent, ctes, "derived")
        if len(columns) > len(fields):
            raise self.b.error(node, f"{said} has {len(fields)} columns, not {len(columns)}")
        by_name: dict[str, Field] = {}
        for f, name in zip(fields, [*columns, *names[len(columns) :]], strict=True):
            name = f.name if name.lower() in by_name else name
            by_name[name.lower()] = Field(f.name, f.kind, f.named, name)
        return Source(alias, said, by_name)

    def _values(self, node: exp.Values) -> Source:
        alias = self.b.new_alias()
        as_written = node.args.get("alias")
        columns = [c.name for c in as_written.columns] if as_written is not None else []
        width = len(node.expressions[0].expressions) if node.expressions else 0
        if len(columns) > width:
            raise self.b.error(node, f"VALUES gives {width} columns, not {len(columns)}")
        for row in node.expressions:
            self.resolver.expression(row, "source")
        names = [*columns, *(f"col{i}" for i in range(len(columns), width))]
        node.set("alias", table_alias(alias, names))
        said = as_written.name if as_written is not None and as_written.this else alias
        return Source(alias, said, {n.lower(): Field(n) for n in names})

    def _series(self, node: exp.Expr, function: str) -> Source:
        """unnest(...), range(...) and generate_series(...) in FROM: one column."""
        if function not in ("unnest", "range", "generate_series", "generateseries"):
            if function == "select_frames" and isinstance(node, exp.Table):
                return self._select_frames(node)
            raise self.b.error(node, f"{function}() cannot stand in FROM")
        series = node.this if isinstance(node, exp.Table) else None
        if isinstance(series, exp.GenerateSeries):
            function = "range" if series.args.get("is_end_exclusive") else "generate_series"
        as_written = node.args.get("alias")
        said = as_written.name if as_written is not None and as_written.this else function
        columns = [c.name for c in as_written.columns] if as_written is not None else []
        column = columns[0] if columns else said
        alias = self.b.new_alias()
        for argument in [*node.iter_expressions()]:
            if not isinstance(argument, exp.TableAlias):
                self.resolver.expression(argument, "source")
        node.set("alias", table_alias(alias, [column]))
        return Source(alias, said, {column.lower(): Field(column)})

    def _select_frames(self, node: exp.Table) -> Source:
        """The table of chosen frames, which is registered before the statement is planned."""
        choice = read_call(node.this, self.b.values, self.b.find_video, self.b.error)
        as_written = node.args.get("alias")
        said = as_written.name if as_written is not None and as_written.this else "select_frames"
        if as_written is not None and as_written.columns:
            raise self.b.error(node, f"{said}(...): rename columns in a SELECT list")
        alias = self.b.new_alias()
        # a name of ours, not one to look up: `rewrite` takes identifiers for relations
        name = exp.Var(this=self.b.choice(choice))
        node.replace(exp.Table(this=name, alias=table_alias(alias, SCHEMA.names)))
        return Source(alias, said, {n: Field(n) for n in SCHEMA.names})
