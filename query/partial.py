"""Sound partial results: only rows that no missing value could remove or change.

The final tree with `must` in place of its conditions. Where a row's fate cannot be told from
the row (aggregates, windows, EXCEPT, outer joins over missing values) the block gives no row
at all, for none is sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from reeldb.query.logic import Logic, both, is_read, own_queries, reads, true
from reeldb.query.order import is_order_known
from reeldb.query.rewrite import Scan, lazy_relations
from reeldb.query.trees import (
    conjuncts,
    has_unnest,
    has_window,
    is_aggregated,
    is_scan,
    joins,
    sources,
    visible,
)
from reeldb.query.units import slot_of

Open = frozenset[tuple[int, str]]  # (unit, scan) of the slots with missing values that matter
SURE = "__sure"
RANK = "__rank"


def sound(tree: exp.Query, scans: dict[str, Scan], open_slots: Open) -> exp.Query:
    """The rows of `tree` that are rows of the full answer whatever the missing values are."""
    holder = exp.Subquery(this=tree.copy())
    _Sound(scans, open_slots).query(holder.this)
    return holder.this  # type: ignore[no-any-return]


def marked(tree: exp.Query, scans: dict[str, Scan], open_slots: Open) -> exp.Query:
    """All rows of `tree` as they are now, with a last column, `sure`."""
    out = tree.copy()
    if not isinstance(out, exp.Select):
        return _with_column(out, exp.false())
    work = _Sound(scans, open_slots)
    block = _Block.of(out)
    simple = not (block.aggregated or block.windows or block.limited or block.distinct)
    if not simple or work.blocks_from(out):
        return _with_column(out, exp.false())
    conditions = [*block.where, *block.inner_on]
    sure = both(
        *(work.logic.condition(c, "must_true", True) for c in conditions), *work.list_is_sure(out)
    )
    out.append("expressions", exp.alias_(sure, "sure"))
    return out


def _with_column(q: exp.Query, value: exp.Expr) -> exp.Query:
    return exp.select("*", exp.alias_(value, "sure")).from_(q.subquery("q"))


@dataclass(frozen=True, slots=True)
class _Block:
    where: list[exp.Expr]
    inner_on: list[exp.Expr]
    outer: bool
    aggregated: bool
    windows: bool
    limited: bool
    distinct: bool
    distinct_on: bool

    @classmethod
    def of(cls, q: exp.Select) -> _Block:
        outer = any(j.side for j in joins(q))
        on = [c for j in joins(q) if not outer for c in conjuncts(j.args.get("on"))]
        distinct = q.args.get("distinct")
        where = q.args.get("where")
        return cls(
            conjuncts(where.this) if where is not None else [],
            on,
            outer,
            is_aggregated(q),
            bool(q.args.get("qualify")) or any(has_window(x) or has_unnest(x) for x in q.selects),
            q.args.get("limit") is not None or q.args.get("offset") is not None,
            distinct is not None,
            distinct is not None and distinct.args.get("on") is not None,
        )


class _Sound:
    def __init__(self, scans: dict[str, Scan], open_slots: Open) -> None:
        self.open_slots = open_slots
        self.logic = Logic(lazy_relations(scans), self.is_open)

    def is_open(self, node: exp.Expr) -> bool:
        """Whether a slot with missing values is read anywhere in `node`."""
        for column in filter(is_read, node.find_all(exp.Column)):
            slot = slot_of(column)
            if slot is not None and (slot.unit, slot.scan) in self.open_slots:
                return True
        return False

    def query(self, q: exp.Expr) -> None:
        """Makes a query give sure rows only, in place."""
        if isinstance(q, exp.Subquery):
            self.query(q.this)
        elif not self.is_open(q):
            return
        elif isinstance(q, exp.SetOperation):
            self._set_operation(q)
        elif isinstance(q, exp.Select):
            self._select(q)

    def _set_operation(self, q: exp.SetOperation) -> None:
        if q.args.get("limit") is not None or (
            isinstance(q, exp.Except) and self.is_open(q.expression)
        ):
            _no_rows(q)
            return
        self.query(q.this)
        self.query(q.expression)

    def blocks_from(self, q: exp.Select) -> bool:
        """Whether missing values in FROM make every row of an outer join doubtful."""
        items = [*sources(q), *(j.args["on"] for j in joins(q) if j.args.get("on") is not None)]
        return any(j.side for j in joins(q)) and any(self.is_open(i) for i in items)

    def _select(self, q: exp.Select) -> None:
        block = _Block.of(q)
        rest = [q.args.get(k) for k in ("group", "having", "qualify", "windows", "order")]
        late = any(self.is_open(x) for x in _flat(rest))
        derived = [s for s in sources(q) if not is_scan(s) and self.is_open(s)]
        conditions = [*block.where, *block.inner_on]
        doubtful = bool(derived) or any(self.is_open(c) for c in conditions)
        cut = block.limited or block.distinct_on or block.windows
        if (
            self.blocks_from(q)
            or block.aggregated
            or (late and (cut or block.distinct))
            or (doubtful and (block.windows or block.distinct_on))
            or (derived and block.limited)
            or (block.windows and any(self.is_open(x) for x in q.selects if has_window(x)))
        ):
            _no_rows(q)
            return
        for source in derived:
            self.query(source.this if isinstance(source, exp.Subquery) else source)
        if doubtful and block.limited:
            self._limited(q, conditions)
        elif cut:
            _keep_sure(q, both(*self.list_is_sure(q)))
        else:
            self._strengthen(q)

    def _strengthen(self, q: exp.Select) -> None:
        """`must` in place of WHERE and of the ON of inner joins."""
        sure = self.list_is_sure(q)
        for join in joins(q):
            if not join.side and join.args.get("on") is not None:
                join.set("on", self._must(join.args["on"]))
        where = q.args.get("where")
        kept = [self._must(where.this)] if where is not None else []
        condition = both(*kept, *sure)
        q.set("where", exp.Where(this=condition))

    def _must(self, condition: exp.Expr) -> exp.Expr:
        return both(*(self.logic.condition(c, "must_true", True) for c in conjuncts(condition)))

    def list_is_sure(self, q: exp.Select) -> list[exp.Expr]:
        """For every value read in the list: it is there, or it cannot matter."""
        out: list[exp.Expr] = []
        for item in visible(q):
            e = item.unalias()
            if any(self.is_open(n) for n in own_queries(e)):
                return [exp.false()]
            for column in reads(e):
                slot = slot_of(column)
                if slot is None or (slot.unit, slot.scan) not in self.open_slots:
                    continue
                need = self.logic.need(e, column, "value")
                out.append(exp.paren(exp.or_(slot.looked, exp.not_(exp.paren(need)))))
        return out

    def _limited(self, q: exp.Select, conditions: Sequence[exp.Expr]) -> None:
        """LIMIT over doubtful rows: a sure row counts if the doubtful ones before it cannot push
        it out, nor pull it over the OFFSET."""
        must = both(*(self.logic.condition(c, "must_true", True) for c in conditions))
        may = [self.logic.condition(c, "may_true") for c in conditions]
        first, skipped = _numbers(q)
        order = q.args.get("order")
        if first is None or not is_order_known(q, self.logic):
            _no_rows(q)  # the place of a doubtful row is not known
            return
        keys = order.sql("duckdb") if order is not None else ""
        before = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
        doubtful_rows = any((-1, s) in self.open_slots for s in self.logic.lazy_scans)
        for join in joins(q):
            if not join.side and join.args.get("on") is not None:
                join.set("on", None)
                join.set("kind", "CROSS")
        q.set("where", exp.Where(this=both(*may)) if may else None)
        for part in ("limit", "offset", "order"):
            q.set(part, None)
        names = [x.alias for x in q.selects]
        flag = exp.alias_(both(must, true()), "__must")
        q.append("expressions", flag)
        q.append("expressions", exp.alias_(both(*self.list_is_sure(q)), SURE))
        q.append("expressions", exp.alias_(_raw(f"row_number() OVER ({keys})"), RANK))
        sure = f"count_if({must.sql('duckdb')}) OVER ({keys} {before})"
        q.append("expressions", exp.alias_(_raw(f"coalesce({sure}, 0)"), "__before"))
        fits = f"__before = {RANK} - 1" if doubtful_rows else "TRUE"
        place = f"{RANK} <= {first + skipped} AND __before >= {skipped}"
        over = f"__must AND {SURE} AND {place} AND {fits}"
        _wrap(q, names, _raw(over))


def _keep_sure(q: exp.Select, sure: exp.Expr) -> None:
    """The rows as they are chosen, less those with a missing value in the list."""
    names = [x.alias for x in q.selects]
    order = q.args.get("order")
    keys = order.sql("duckdb") if order is not None else ""
    q.append("expressions", exp.alias_(sure, SURE))
    q.append("expressions", exp.alias_(_raw(f"row_number() OVER ({keys})"), RANK))
    _wrap(q, names, exp.column(SURE))


def _wrap(q: exp.Select, names: Sequence[str], condition: exp.Expr) -> None:
    named = [exp.to_identifier(n, quoted=True) for n in names]
    aliased = [exp.alias_(exp.column(n, "w"), n.copy()) for n in named]
    outer = exp.select(*aliased).from_(q.copy().subquery("w")).where(condition)
    q.replace(outer.order_by(exp.column(RANK, "w")))


def _no_rows(q: exp.Query) -> None:
    q.set("limit", exp.Limit(expression=exp.Literal.number(0)))
    q.set("offset", None)


def _numbers(q: exp.Select) -> tuple[int | None, int]:
    limit, offset = q.args.get("limit"), q.args.get("offset")
    first = _literal(limit.expression) if limit is not None else None
    skipped = _literal(offset.expression) if offset is not None else 0
    return (None, 0) if skipped is None else (first, skipped)


def _literal(node: exp.Expr) -> int | None:
    return int(str(node.this)) if isinstance(node, exp.Literal) and not node.is_string else None


def _raw(text: str) -> exp.Expr:
    return exp.Var(this=text)


def _flat(parts: Sequence[object]) -> list[exp.Expr]:
    out: list[exp.Expr] = []
    for part in parts:
        if isinstance(part, list):
            out += part
        elif isinstance(part, exp.Expr):
            out.append(part)
    return out
