"""Looking names up: what each written column means, in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from reeldb.query.expressions import as_case, dots, is_star, is_variable
from reeldb.query.functions import LAZY_CALLS, is_lazy_call, is_span_call
from reeldb.query.intervals import span_condition
from reeldb.query.scope import Role, Scope, Source
from reeldb.schema.errors import BindError, near

if TYPE_CHECKING:
    from reeldb.query.bind import Binder

Clause = Literal["source", "list", "where", "group", "having", "qualify", "order"]


class Resolver:
    """The names of one block. Which of a column and an alias of the list wins is DuckDB's rule:
    the column, except in ORDER BY."""

    def __init__(self, binder: Binder, scope: Scope) -> None:
        self.b, self.scope = binder, scope

    def expression(self, root: exp.Expr, clause: Clause) -> None:
        """Binds every name below `root`, which must hang in a tree, in place."""
        stops = (exp.Query, exp.Column)
        branches = []
        for node in [*root.walk(prune=lambda n: isinstance(n, stops) or is_span_call(n))]:
            if isinstance(node, exp.Query):
                self._nested(node)
            elif is_span_call(node):
                node.replace(span_condition(node, self.scope, self.b.error))
            elif is_star(node):
                if not isinstance(node, exp.Star) or not isinstance(node.parent, exp.Count):
                    raise self.b.error(node, "a star cannot stand here")
            elif isinstance(node, exp.Column):
                self._column(node, clause)
            elif isinstance(node, exp.If) and not isinstance(node.parent, exp.Case):
                branches.append(node)
        for node in reversed(branches):  # inner ones first
            node.replace(as_case(node))

    def _nested(self, node: exp.Query) -> None:
        role: Role = "exists" if isinstance(node.parent, exp.Exists) else "value"
        inner = self.b.plain(node)
        if isinstance(inner, exp.Query) and not isinstance(node, exp.Subquery) and inner is node:
            self.b.query(inner, self.scope, self.scope.ctes, role)
            return
        # an operator wants its parentheses back
        holder = exp.Subquery(this=inner.copy())
        inner.replace(holder)
        self.b.query(holder.this, self.scope, self.scope.ctes, role)

    def _column(self, node: exp.Column, clause: Clause) -> None:
        if node.meta.get("bound") or is_variable(node):
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
            return self.b.fresh(self.scope.aliases[parts[0].lower()])
        scope: Scope | None = self.scope
        while scope is not None:
            found = self._in_scope(scope, node, parts, pictures)
            if found is not None:
                return found
            aliases = scope.aliases if scope is self.scope and clause != "source" else {}
            if len(parts) == 1 and parts[0].lower() in aliases:
                return self.b.fresh(aliases[parts[0].lower()])
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
            return dots(common.expression.copy(), parts[1:])
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
        return dots(column, parts[1:])

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
