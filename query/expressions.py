"""Small questions about written expressions, and small new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from reeldb.query.functions import is_aggregate


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


def is_star(item: exp.Expr) -> bool:
    return isinstance(item, exp.Star) or (
        isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
    )


def is_variable(node: exp.Column) -> bool:
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


def as_case(node: exp.If) -> exp.Case:
    branch = exp.If(this=node.this.copy(), true=node.args["true"].copy())
    default = node.args.get("false")
    return exp.Case(ifs=[branch], default=default.copy() if default is not None else None)


def ordinal(node: exp.Expr) -> int | None:
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        return int(str(node.this))
    return None


def like(item: exp.Ordered, key: exp.Expr) -> exp.Ordered:
    """`key` in the direction of another ORDER BY item."""
    out = item.copy()
    out.set("this", key)
    return out


def quoted(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def table_alias(name: str, columns: Sequence[str] = ()) -> exp.TableAlias:
    columns_ = [exp.to_identifier(c, quoted=True) for c in columns]
    return exp.TableAlias(this=exp.to_identifier(name), columns=columns_ or None)


def dots(expression: exp.Expr, fields: Sequence[str]) -> exp.Expr:
    for name in fields:
        if isinstance(expression, exp.Column):
            expression = exp.Paren(this=expression)
        expression = exp.Dot(this=expression, expression=exp.to_identifier(name, quoted=True))
    return expression


def unique(names: Sequence[str]) -> list[str]:
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


def fresh(node: exp.Expr, rename: Callable[[str], str]) -> exp.Expr:
    """A copy in which queries have aliases of their own, so that no alias stands for two."""
    holder = exp.Paren(this=node.copy())
    kinds = (exp.Table, exp.Subquery, exp.Unnest, exp.Values)
    new = {n.alias: rename(n.alias) for n in holder.find_all(*kinds) if n.alias}
    if new:
        for n in holder.find_all(*kinds):
            if n.alias in new:
                n.args["alias"].set("this", exp.to_identifier(new[n.alias]))
        for column in holder.find_all(exp.Column):
            if column.table in new:
                column.set("table", exp.to_identifier(new[column.table]))
    copy: exp.Expr = holder.this
    copy.pop()
    return copy
