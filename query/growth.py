"""How large a statement can blow up one value: DuckDB cannot be stopped inside one call.

`length(repeat('a', 2000000000))` runs for most of a minute and neither the timer nor the memory
limit ends it. So every expression gets a bound on its size, in units of 100 bytes: a column of
the archive is 1, `||` adds, `repeat` multiplies, what a derived table or CTE gives is as large as
its largest column. Where work grows with the product of two sizes (a lambda over a list, an edit
distance) the product is the bound. A statement with a bound above `MOST` is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from sqlglot import exp

from reeldb.query.functions import name_of

UNIT = 100  # bytes
MOST = 1e5  # units: 10 MB
MOST_COMPARED = 100.0  # product of two texts whose every pair of characters is looked at
MOST_MATCHED = 1e4  # product of a text and the length of a pattern
MOST_ROWS = 1_000_000  # of range() and generate_series() in FROM
MOST_ITEMS = 10_000  # of the same as a value
MOST_LAMBDAS = 4  # in one another: DuckDB takes twice the time and memory for each
GATHERED = 1_000.0  # an aggregate that keeps all its rows; DuckDB's memory limit counts it

_ADDING = {"concat", "list_concat", "list_value", "array", "struct_pack", "struct", "row",
           "list_append", "list_prepend", "dpipe", "add", "tuple", "arrayconcat", "array_append",
           "array_prepend", "list_pack", "map", "tomap", "var_map"}  # fmt: skip
_GATHERING = {"array_agg", "list", "string_agg", "group_concat", "listagg", "histogram"}
_JOINING = {"array_to_string", "concat_ws"}
_COMPARING = {"levenshtein", "editdist3", "jaro_similarity",
              "jaro_winkler_similarity", "jarowinkler_similarity"}  # fmt: skip
_MATCHING = {"regexp_matches", "regexp_full_match", "regexp_extract", "regexp_extract_all",
             "regexp_split_to_array", "regexp_like", "similarto", "regexp_replace"}  # fmt: skip
_SPLITTING = {"split", "string_split", "str_split", "string_to_array", "regexp_split_to_array",
              "regexp_extract_all"}  # fmt: skip
_MAPPING = {"list_transform", "list_apply", "array_transform", "list_filter", "array_filter",
            "transform", "filter", "comprehension"}  # fmt: skip
_SMALL = (exp.Predicate, exp.Count, exp.Length, exp.Connector, exp.Not)

Refuse = Callable[[exp.Expr, str], Exception]


def check_growth(
    tree: exp.Expr, refuse: Refuse, parameters: Mapping[str, float] | None = None
) -> None:
    """Raises what `refuse` makes for a statement that can make one value of absurd size.

    `parameters` gives the units of the bound parameters; until they are known, each is 1.
    """
    _Growth(refuse, parameters or {}).query(tree, {}, 1.0)


def units(value: object) -> float:
    """The size of a bound parameter."""
    if isinstance(value, str | bytes):
        return max(1.0, len(value) / UNIT)
    if isinstance(value, list | tuple | set):
        return max(1.0, sum(map(units, value)) / 10)
    if isinstance(value, Mapping):
        return max(1.0, sum(map(units, value.values())) / 10)
    return 1.0


class _Growth:
    """Sizes of queries and expressions, from the inside out."""

    def __init__(self, refuse: Refuse, parameters: Mapping[str, float]) -> None:
        self.refuse, self.parameters = refuse, parameters

    def query(self, node: exp.Expr, ctes: Mapping[str, float], outer: float) -> float:
        """The largest value in the rows of a query; `outer` is that of the rows round it."""
        inside = dict(ctes)
        for entry in node.ctes if isinstance(node, exp.Query) else ():
            inside[entry.alias.lower()] = self.query(entry.this, inside, 1.0)
        if isinstance(node, exp.SetOperation):
            sides = (node.this, node.expression)
            size = max(self.query(side, inside, outer) for side in sides)
            return max(size, self._rest(node, inside, max(size, outer), {}))
        if isinstance(node, exp.Select):
            return self._select(node, inside, outer)
        if isinstance(node, exp.Subquery):
            size = self.query(node.this, inside, outer)
            return max(size, self._rest(node, inside, max(size, outer), {}))
        return self._rest(node, inside, outer, {})

    def _select(self, node: exp.Select, ctes: Mapping[str, float], outer: float) -> float:
        base = outer
        for item in _from_items(node):
            base = max(base, self._source(item, ctes, base))
        aliases: dict[str, float] = {}
        worst = 1.0
        for item in node.expressions:
            size = self.expression(item, ctes, base, aliases)
            worst = max(worst, size)
            if isinstance(item, exp.Alias):
                aliases[item.alias.lower()] = size
        self._rest(node, ctes, base, aliases)
        return worst

    def _source(self, item: exp.Expr, ctes: Mapping[str, float], outer: float) -> float:
        """The largest value in a row of an item of FROM."""
        if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
            return ctes.get(item.name.lower(), 1.0) if not item.args.get("db") else 1.0
        if isinstance(item, (exp.Subquery, exp.Lateral)) and isinstance(item.this, exp.Query):
            return self.query(item.this, ctes, outer)
        return self.expression(item, ctes, outer, {})

    def _rest(
        self,
        node: exp.Expr,
        ctes: Mapping[str, float],
        base: float,
        aliases: Mapping[str, float],
    ) -> float:
        """Everything of a query but its list, FROM, WITH and sides."""
        done = {"expressions", "from_", "with_", "this", "expression", "alias"}
        if not isinstance(node, exp.Query):
            done = {"alias"}
        worst = 1.0
        for part, value in node.args.items():
            if part in done:
                continue
            for e in value if isinstance(value, list) else [value]:
                if isinstance(e, exp.Join):
                    e = e.args.get("on")
                if isinstance(e, exp.Expr):
                    worst = max(worst, self.expression(e, ctes, base, aliases))
        return worst

    def expression(
        self,
        node: exp.Expr,
        ctes: Mapping[str, float],
        base: float,
        aliases: Mapping[str, float],
    ) -> float:
        """At most how many units come out of `node`, over rows whose columns have `base`."""
        sizes: dict[int, float] = {}
        within: dict[int, float] = {}  # the largest value on the way to it
        for n in reversed([*node.walk(prune=lambda x: isinstance(x, exp.Query))]):
            if isinstance(n, exp.Query):
                size = self.query(n, ctes, base)
            elif isinstance(n, exp.Column):
                size = max(base, 1.0 if n.table else aliases.get(n.name.lower(), 1.0))
            elif isinstance(n, exp.Placeholder):
                size = self.parameters.get(str(n.this), 1.0)
            else:
                kids = [*map(id, n.iter_expressions())]
                each = within if _name(n) in _MAPPING else sizes
                size = self._one(n, [each.get(k, 1.0) for k in kids])
                within[id(n)] = max([size, *(within.get(k, 1.0) for k in kids)])
            if size > MOST:
                raise self.refuse(
                    n, "the statement builds values that are too large: repeat and join less"
                )
            sizes[id(n)] = size
            within.setdefault(id(n), size)
        return sizes[id(node)]

    def _one(self, node: exp.Expr, kids: list[float]) -> float:
        """The size of a node whose parts have the sizes `kids`."""
        if isinstance(node, exp.Literal):
            return len(str(node.this)) / UNIT
        name, most = _name(node), max(kids, default=1.0)
        if name in _MATCHING:
            self._check_match(node, kids)
        if name in _COMPARING and _product(kids) > MOST_COMPARED:
            raise self.refuse(node, f"{name}() takes texts of some {10 * UNIT:,} characters")
        if name in ("format", "printf"):
            return self._formatted(node, most)
        if isinstance(node, exp.Repeat):
            return most * self._count(node.args["times"], "repeat wants")
        if isinstance(node, exp.Pad):
            return most + self._count(node.args["expression"], "lpad and rpad want") / UNIT
        if isinstance(node, exp.GenerateSeries):
            return self._series(node)
        if isinstance(node, exp.DataType):
            return self._array(node)
        if isinstance(node, exp.Lambda):
            self._check_nesting(node)
        return _grown(node, name, kids, most)

    def _check_match(self, node: exp.Expr, kids: list[float]) -> None:
        pattern = node.args.get("expression") or (node.expressions or [None])[-1]
        text = str(pattern.this) if isinstance(pattern, exp.Literal) else ""
        times = sum(int(n) for n in re.findall(r"(\d{1,4})\}", text)) / 10
        size = max(kids[1:2], default=1.0) * max(1.0, times)
        if max(kids[:1], default=1.0) * size > MOST_MATCHED:
            raise self.refuse(node, "the text and the pattern are too large together")

    def _check_nesting(self, node: exp.Lambda) -> None:
        deep, above = 0, node.parent
        while above is not None and not isinstance(above, exp.Query):
            deep += isinstance(above, exp.Lambda)
            above = above.parent
        if deep >= MOST_LAMBDAS:
            raise self.refuse(node, f"more than {MOST_LAMBDAS} lambdas in one another")

    def _count(self, node: exp.Expr, wants: str) -> float:
        number = _number(node)
        if number is None or number > MOST:
            raise self.refuse(node, f"{wants} a literal count of at most {MOST:,.0f}")
        return max(1.0, number)

    def _series(self, node: exp.GenerateSeries) -> float:
        start, end = _number(node.args.get("start")), _number(node.args.get("end"))
        step = _number(node.args["step"]) if node.args.get("step") is not None else 1.0
        if start is None or end is None or not step:
            raise self.refuse(node, "range and generate_series want literal numbers")
        length = abs(end - start) / abs(step) + (not node.args.get("is_end_exclusive"))
        if length > MOST_ROWS:
            raise self.refuse(node, f"range and generate_series give at most {MOST_ROWS:,} rows")
        if isinstance(node.parent, (exp.Table, exp.Unnest, exp.Lateral)):
            return 1.0
        if length > MOST_ITEMS:
            raise self.refuse(
                node,
                f"range and generate_series outside FROM give at most {MOST_ITEMS:,} items",
            )
        return max(1.0, length / 10)

    def _formatted(self, node: exp.Expr, most: float) -> float:
        """Each place may take the largest argument, and any width that the format names."""
        parts = list(node.iter_expressions())
        text = str(parts[0].this) if parts and isinstance(parts[0], exp.Literal) else None
        if text is None or re.search(r"\d{4}|\*|\{[^}]*\{", text):
            raise self.refuse(node, "printf and format want a literal format, widths below 1000")
        width = max([int(n) for n in re.findall(r"\d+", text)], default=0) / UNIT
        places = text.count("{") + text.count("%")
        return len(text) / UNIT + max(1, places) * (most + width)

    def _array(self, node: exp.DataType) -> float:
        """`INTEGER[1000]` takes its room even for NULL."""
        nested = node.find_all(exp.DataType)
        items = math.prod(_number(v) or 1.0 for t in nested for v in t.args.get("values") or [])
        if items > MOST_ITEMS:
            raise self.refuse(node, f"a fixed array has at most {MOST_ITEMS:,} items")
        return max(1.0, items / 10)


def _grown(node: exp.Expr, name: str, kids: list[float], most: float) -> float:
    """What the functions make of their arguments that need no look at the tree."""
    if isinstance(node, _SMALL):
        return 1.0
    if name in _ADDING:
        return sum(kids) or 1.0
    if name in _GATHERING:
        return max(most, GATHERED)
    if name in _JOINING:
        return sum(kids) if min(kids[0], kids[-1]) <= 0.1 else 10 * _product(kids)
    if name in ("replace", "regexp_replace"):
        return _replaced(node, kids)
    if name in _SPLITTING:
        return 16 * most  # every piece is a value of 16 bytes
    if name in _MAPPING:
        return _product(kids)
    writes_out = isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.TEXT_TYPES, "BLOB")
    if name in ("hex", "to_base64", "tohex", "tobase64") or writes_out:
        return 2 * kids[0]
    return most


def _name(node: exp.Expr) -> str:
    return name_of(node) or type(node).__name__.lower()


def _product(kids: list[float]) -> float:
    return math.prod(max(1.0, k) for k in kids)


def _replaced(node: exp.Expr, kids: list[float]) -> float:
    """Where every match of the pattern becomes the new text, in the worst case."""
    _, old, new = [*node.iter_expressions(), None, None, None][:3]
    length = UNIT * (kids[2] if len(kids) > 2 else 0.0)
    if isinstance(new, exp.Literal):
        length = float(len(str(new.this)))
    if not isinstance(node, exp.RegexpReplace):
        size = len(str(old.this)) if isinstance(old, exp.Literal) else 1
        return kids[0] * max(1.0, length / max(1, size))
    return kids[0] * (length + 1)


def _from_items(node: exp.Select) -> list[exp.Expr]:
    """The items of FROM, and those joined in parentheses, from left to right."""
    first = [node.args["from_"].this] if node.args.get("from_") else []
    items = first + [j.this for j in node.args.get("joins") or []]
    inner = [j.this for i in items for j in i.args.get("joins") or []]
    return [*items, *inner]


def _number(node: exp.Expr | None) -> float | None:
    sign = 1.0
    while isinstance(node, (exp.Neg, exp.Paren)):
        sign, node = (-sign if isinstance(node, exp.Neg) else sign), node.this
    if isinstance(node, exp.Literal) and not node.is_string:
        return sign * float(str(node.this))
    return None
