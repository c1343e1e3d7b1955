"""May and must: what can be said of a condition while some of its values are missing.

An atom without a missing value is what it is. With one, it *may* be true and it is not so
that it *must* be. `need` tells under which condition the value of one slot can still matter
to an expression. All of it is SQL over the flags of the scans, so a value that is filled
starts to shield others by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from sqlglot import exp

from reeldb.query.units import HI, LO, Slot, is_dense, is_hidden, is_one_of, slot_of
from reeldb.schema.relations import Relation

Mode = Literal["may_true", "may_false", "must_true", "must_false"]
Context = Literal["true", "false", "value"]  # what of an expression counts
FLIP: dict[Mode, Mode] = {
    "may_true": "may_false",
    "may_false": "may_true",
    "must_true": "must_false",
    "must_false": "must_true",
}
_FLIPPED: dict[Context, Context] = {"true": "false", "false": "true", "value": "value"}


def true() -> exp.Boolean:
    return exp.Boolean(this=True)


def false() -> exp.Boolean:
    return exp.Boolean(this=False)


def both(*conditions: exp.Expr | None) -> exp.Expr:
    """The conditions joined by AND, without those that are TRUE."""
    real = [c for c in conditions if c is not None and not _is(c, True)]
    return exp.and_(*real) if real else true()


def _is(node: exp.Expr, value: bool) -> bool:
    return isinstance(node, exp.Boolean) and bool(node.this) is value


def own_columns(node: exp.Expr) -> Iterable[exp.Column]:
    """The columns in `node` that are not inside a nested query."""
    for n in node.walk(prune=lambda n: isinstance(n, exp.Query)):
        if isinstance(n, exp.Column):
            yield n


def own_queries(node: exp.Expr) -> list[exp.Query]:
    """The outermost queries nested in `node`, without their parentheses."""
    out: list[exp.Query] = []
    for n in node.walk(prune=lambda n: isinstance(n, exp.Query) and not _wraps(n)):
        if isinstance(n, exp.Query) and not _wraps(n):
            out.append(n)
    return out


def _wraps(node: exp.Expr) -> bool:
    return isinstance(node, exp.Subquery)


def reads(node: exp.Expr) -> list[exp.Column]:
    """The slot columns read in `node` itself, nested queries left out."""
    return [c for c in own_columns(node) if slot_of(c) is not None]


def is_read(column: exp.Expr) -> bool:
    """Whether a column reads a slot, and does not only hand it on to the block around."""
    if slot_of(column) is None:
        return False
    above = column.parent
    return not (isinstance(above, exp.Alias) and is_hidden(above.alias))


class Logic:
    """`lazy_scans`: scans of lazy relations, by alias. `is_open` tells whether a nested query
    still holds slots that nobody has filled yet. `blind` are units with a value for all rows
    that nobody may ask for.

    Before a look the columns of its rows are unknown but for those that the relation foresees.
    """

    def __init__(
        self,
        lazy_scans: Mapping[str, Relation],
        is_open: Callable[[exp.Query], bool],
        blind: frozenset[int] = frozenset(),
    ) -> None:
        self.lazy_scans, self.is_open, self.blind = lazy_scans, is_open, blind

    def flags(self, node: exp.Expr) -> list[Slot]:
        """The slots whose values `node` itself depends on, each once."""
        out: dict[Slot, None] = {}
        for column in own_columns(node):
            slot = slot_of(column)
            if slot is None and self._is_unforeseen(column):
                slot = Slot(-1, column.table, column.table)
            if slot is not None:
                out[slot] = None
        return list(out)

    def _is_unforeseen(self, column: exp.Column) -> bool:
        relation = self.lazy_scans.get(column.table)
        if relation is None or (column.name.startswith("__") and not is_dense(column)):
            return False
        return column.name not in relation.foreseen

    def is_bounded(self, node: exp.Expr) -> bool:
        """Whether `node` is a column that is not known before a look, but where it lies."""
        relation = self.lazy_scans.get(node.table) if isinstance(node, exp.Column) else None
        return relation is not None and node.name in relation.bounded

    def blocked(self, node: exp.Expr) -> bool:
        """Whether a nested query, or a value that EXPLAIN may not ask for, is not known yet."""
        if any(self.is_open(q) for q in own_queries(node)):
            return True
        return bool(self.blind) and any(is_one_of(c, self.blind) for c in own_columns(node))

    def settled(self, node: exp.Expr) -> bool:
        """Whether nothing in `node` can be missing."""
        return not self.flags(node) and not self.blocked(node)

    def condition(self, e: exp.Expr, mode: Mode, strict: bool = False) -> exp.Expr:
        """`e` in a mode. `strict` gives TRUE or FALSE, never NULL: wanted below a NOT."""
        if isinstance(e, exp.Paren):
            return self.condition(e.this, mode, strict)
        if isinstance(e, exp.Not):
            return self.condition(e.this, FLIP[mode], strict)
        if self.settled(e):
            return _exactly(e, mode, strict)
        if isinstance(e, (exp.And, exp.Or)):
            parts = [self.condition(p, mode, strict) for p in e.flatten()]
            together = isinstance(e, exp.And) == mode.endswith("true")
            joined = exp.and_(*parts) if together else exp.or_(*parts)
            return exp.paren(joined, copy=False)
        return self._atom(e, mode, strict)

    def _atom(self, e: exp.Expr, mode: Mode, strict: bool) -> exp.Expr:
        may = mode.startswith("may")
        if self.blocked(e):
            return true() if may else false()
        compared = self.compared(e, mode)
        if compared is not None:
            return _exactly(compared, "may_true", strict) if strict else exp.paren(compared)
        looked = [s.looked for s in self.flags(e)]
        exact = _exactly(e, mode, strict)
        if may:
            return exp.paren(exp.or_(*(exp.not_(x) for x in looked), exact), copy=False)
        return exp.paren(exp.and_(*looked, exact), copy=False)

    def compared(self, e: exp.Expr, mode: Mode) -> exp.Expr | None:
        """A comparison of bounded columns with what is known, by the ends of their bounds.

        None where `e` is no such comparison. For `a < b` to be possible the least that a can
        be must lie below the most that b can be; for it to be sure, the most below the least.
        """
        if isinstance(e, exp.Between):
            low = exp.GTE(this=e.this, expression=e.args["low"])
            high = exp.LTE(this=e.this, expression=e.args["high"])
            parts = [self.compared(p, mode) for p in (low, high)]
            if parts[0] is None or parts[1] is None or e.args.get("symmetric"):
                return None
            return (exp.and_ if mode.endswith("true") else exp.or_)(*parts)
        a, b = (self._ends(x) for x in (e.args.get("this"), e.args.get("expression")))
        if a is None or b is None or not isinstance(e, (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ)):
            return None
        if isinstance(e, exp.EQ):
            if mode != "may_true":
                return None
            return exp.and_(_compare(exp.LTE, a[0], b[1]), _compare(exp.LTE, b[0], a[1]))
        kind: type[exp.Binary] = type(e)
        if mode.endswith("false"):
            kind = _NEGATED[kind]
        least_first = kind in (exp.LT, exp.LTE)
        if mode.startswith("must"):
            least_first = not least_first
        return _compare(kind, a[0 if least_first else 1], b[1 if least_first else 0])

    def _ends(self, e: object) -> tuple[exp.Expr, exp.Expr] | None:
        """The least and the most that a number can be; None where that is not known."""
        if not isinstance(e, exp.Expr):
            return None
        if self.settled(e):
            return e, e
        if isinstance(e, exp.Paren):
            return self._ends(e.this)
        if isinstance(e, exp.Column) and self.is_bounded(e):
            looked = Slot(-1, e.table, e.table).looked
            least, most = (
                exp.Case().when(looked.copy(), e.copy()).else_(exp.column(end, e.table))
                for end in (LO, HI)
            )
            return least, most
        if not isinstance(e, (exp.Add, exp.Sub)):
            return None
        a, b = self._ends(e.this), self._ends(e.expression)
        if a is None or b is None:
            return None
        low, high = (b[0], b[1]) if isinstance(e, exp.Add) else (b[1], b[0])
        return _compare(type(e), a[0], low), _compare(type(e), a[1], high)

    def need(self, root: exp.Expr, target: exp.Expr, context: Context) -> exp.Expr:
        """When the value of `target`, a node in `root`, can matter to what counts of `root`."""
        path = [target]
        while path[-1] is not root:
            above = path[-1].parent
            if above is None:
                raise AssertionError("the target does not lie in the root")
            path.append(above)
        path.reverse()
        conditions: list[exp.Expr] = []
        for e, child in itertools.pairwise(path):
            more, context = self._step(e, child, context)
            conditions += more
        return both(*conditions)

    def _step(
        self, e: exp.Expr, child: exp.Expr, context: Context
    ) -> tuple[list[exp.Expr], Context]:
        """What must hold for `child` of `e` to matter, and what of the child then counts."""
        if isinstance(e, exp.Paren):
            return [], context
        if isinstance(e, exp.Not):
            return [], _FLIPPED[context]
        if isinstance(e, (exp.And, exp.Or)):
            sibling = e.right if child is e.left else e.left
            return [self._beside(e, sibling, context)], context
        if isinstance(e, exp.Case) and e.args.get("this") is None:
            return self._case(e, child), context
        if isinstance(e, exp.If):
            if child is e.this:
                return [], "true"
            return [self.condition(e.this, "may_true", True)], context
        if isinstance(e, exp.Coalesce):
            return self._coalesce(e, child), "value"
        if isinstance(e, exp.Filter):
            if child is e.expression:
                return [], "true"
            where = e.expression.this
            return [self.condition(where, "may_true", True)], "value"
        if isinstance(e, exp.Where):
            return [], context
        return [], "value"

    def _beside(self, e: exp.Expr, sibling: exp.Expr, context: Context) -> exp.Expr:
        if isinstance(e, exp.And):
            if context == "true":
                return self.condition(sibling, "may_true")
            return exp.not_(self.condition(sibling, "must_false", True))
        if context == "false":
            return self.condition(sibling, "may_false")
        return exp.not_(self.condition(sibling, "must_true", True))

    def _case(self, e: exp.Case, child: exp.Expr) -> list[exp.Expr]:
        """The branches before must be able to fail."""
        out: list[exp.Expr] = []
        for branch in e.args["ifs"]:
            if branch is child:
                break
            out.append(exp.not_(self.condition(branch.this, "must_true", True)))
        return out

    def _coalesce(self, e: exp.Coalesce, child: exp.Expr) -> list[exp.Expr]:
        """The settled arguments before must be NULL."""
        out: list[exp.Expr] = []
        for argument in [e.this, *e.expressions]:
            if argument is child:
                break
            if self.settled(argument):
                out.append(exp.Is(this=exp.paren(argument.copy()), expression=exp.Null()))
        return out


_NEGATED: dict[type[exp.Binary], type[exp.Binary]] = {
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
}


def _compare(kind: type[exp.Binary], a: exp.Expr, b: exp.Expr) -> exp.Expr:
    return kind(this=exp.paren(a.copy()), expression=exp.paren(b.copy()))


def _exactly(e: exp.Expr, mode: Mode, strict: bool) -> exp.Expr:
    wants_true = mode.endswith("true")
    if strict:
        value = true() if wants_true else false()
        return exp.paren(exp.Is(this=exp.paren(e.copy()), expression=value), copy=False)
    return exp.paren(e.copy()) if wants_true else exp.paren(exp.not_(exp.paren(e.copy())))
