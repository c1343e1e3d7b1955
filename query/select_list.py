"""The SELECT list: stars written out, every item under a name of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from reeldb.query.dialect import label_of
from reeldb.query.expressions import is_star, is_transparent, unique
from reeldb.query.resolve import Resolver
from reeldb.query.scope import Common, Field, Role, Scope, Source
from reeldb.schema.errors import near
from reeldb.schema.relations import Kind

if TYPE_CHECKING:
    from reeldb.query.bind import Binder


class SelectList:
    """The list of one SELECT.

    `hands_through`: a derived table whose star also hands lazy and virtual columns on, by name.
    """

    def __init__(
        self, binder: Binder, node: exp.Select, scope: Scope, resolver: Resolver, role: Role
    ) -> None:
        self.b, self.node, self.scope, self.resolver = binder, node, scope, resolver
        self.role = role
        self.hands_through = role == "derived" and is_transparent(node)

    def bind(self) -> tuple[list[Field], list[str]]:
        if self.role == "exists":
            for item in self.node.expressions:
                if not is_star(item):
                    self.resolver.expression(item, "list")
            self.node.set("expressions", [exp.alias_(exp.Literal.number(1), "one")])
            return [Field("one")], ["one"]
        if not self.node.expressions:
            raise self.b.error(self.node, "SELECT wants a list of columns")
        out: list[tuple[exp.Expr, str, Field]] = []
        for item in [*self.node.expressions]:
            out += self._star(item) if is_star(item) else [self._projection(item)]
        if not out:
            raise self.b.error(self.node, "the star gives no column here: name the columns")
        names = [name for _, name, _ in out]
        inner = unique(names)
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
            bound = self.resolver.resolve(column, "list", pictures=self.hands_through)
            if self.hands_through:
                field = Field(name, self._kind(bound), named=True)
            expression: exp.Expr = bound
        else:
            holder = exp.Paren(this=written.copy())
            self.resolver.expression(holder.this, "list")
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
