"""How large a statement can blow up one value: DuckDB cannot be stopped inside one call.

`length(repeat('a', 2000000000))` runs for most of a minute and neither the timer nor the memory
limit ends it. So every expression gets a bound on how many times it can repeat its input
(`repeat` multiplies, `||` adds), bounds multiply along the blocks of a statement, and a
statement whose bound is above `MOST` is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from reeldb.query.functions import name_of
from reeldb.schema.errors import ParseError

MOST = 1e5
MOST_ROWS = 1_000_000  # of range() and generate_series()
_ADDING = {"concat", "concat_ws", "list_concat", "list_value", "array", "array_to_string",
           "struct_pack", "struct", "row", "list_append", "list_prepend", "format", "printf",
           "dpipe", "add", "tuple", "arrayconcat", "array_append", "array_prepend"}  # fmt: skip
_REPLACING = {"replace", "regexp_replace", "translate"}

Refuse = Callable[[exp.Expr, str], ParseError]


def check_growth(tree: exp.Expr, refuse: Refuse) -> None:
    """Raises what `refuse` makes for a statement that can make one value of absurd size."""
    total = 1.0
    for select in tree.find_all(exp.Select):
        worst = 1.0
        for expression in _own_expressions(select):
            worst = max(worst, _growth(expression, refuse))
        total *= worst
        if total > MOST:
            raise refuse(
                select, "the statement builds values that are too large: repeat and join less"
            )
    for node in tree.find_all(exp.GenerateSeries):
        _series_length(node, refuse)


def _own_expressions(select: exp.Select) -> list[exp.Expr]:
    parts = [*select.expressions]
    for name in ("where", "group", "having", "qualify", "order"):
        if select.args.get(name) is not None:
            parts.append(select.args[name])
    parts += [j.args["on"] for j in select.args.get("joins") or [] if j.args.get("on") is not None]
    return parts


def _growth(node: exp.Expr, refuse: Refuse) -> float:
    """At most how many times the text of a column or a short literal comes out of `node`."""
    sizes: dict[int, float] = {}
    for n in reversed([*node.walk(prune=lambda x: isinstance(x, exp.Query))]):
        kids = [sizes.get(id(k), 1.0) for k in n.iter_expressions()]
        sizes[id(n)] = _one(n, kids, refuse)
    return sizes[id(node)]


def _one(node: exp.Expr, kids: list[float], refuse: Refuse) -> float:
    if isinstance(node, exp.Literal):
        return max(1.0, len(str(node.this)) / 100)
    name = name_of(node) or type(node).__name__.lower()
    most = max(kids, default=1.0)
    if name in _ADDING:
        if name in ("format", "printf"):
            _check_format(node, refuse)
        return sum(kids) or 1.0
    if isinstance(node, exp.Repeat):
        return most * _count(node.args["times"], "repeat", refuse)
    if isinstance(node, exp.Pad):
        return most + _count(node.args["expression"], "lpad and rpad", refuse) / 100
    if name in _REPLACING:
        parts = list(node.iter_expressions())
        text = parts[2] if len(parts) > 2 else None
        literal = isinstance(text, exp.Literal)
        return most * (max(1.0, len(str(text.this))) if literal and text is not None else 1000.0)
    if isinstance(node, exp.GenerateSeries):
        return max(1.0, _series_length(node, refuse) / 10)
    if isinstance(node, (exp.Transform, exp.Comprehension)) or name in ("list_apply",):
        return _product(kids)
    return most


def _product(kids: list[float]) -> float:
    out = 1.0
    for k in kids:
        out *= k
    return out


def _number(node: exp.Expr | None) -> float | None:
    sign = 1.0
    while isinstance(node, (exp.Neg, exp.Paren)):
        sign, node = (-sign if isinstance(node, exp.Neg) else sign), node.this
    if isinstance(node, exp.Literal) and not node.is_string:
        return sign * float(str(node.this))
    return None


def _count(node: exp.Expr, what: str, refuse: Refuse) -> float:
    number = _number(node)
    if number is None or number > MOST:
        raise refuse(node, f"{what} wants a literal count of at most {MOST:,.0f}")
    return max(1.0, number)


def _series_length(node: exp.GenerateSeries, refuse: Refuse) -> float:
    start, end = _number(node.args.get("start")), _number(node.args.get("end"))
    step = _number(node.args["step"]) if node.args.get("step") is not None else 1.0
    if start is None or end is None or not step:
        raise refuse(node, "range and generate_series want literal numbers")
    length = abs(end - start) / abs(step) + 1
    if length > MOST_ROWS:
        raise refuse(node, f"range and generate_series give at most {MOST_ROWS:,} rows")
    return length


def _check_format(node: exp.Expr, refuse: Refuse) -> None:
    parts = list(node.iter_expressions())
    text = parts[0] if parts else None
    if not isinstance(text, exp.Literal) or re.search(r"\d{4}|\*|\{[^}]*\{", str(text.this)):
        raise refuse(node, "printf and format want a literal format with widths below 1000")
