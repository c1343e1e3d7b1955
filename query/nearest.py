"""`ORDER BY similarity(image, ...) DESC LIMIT k` as a vector search.

The scan then holds the k best rows only, so nothing is sorted or handed over that cannot come
up. Everything else of the statement runs as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from reeldb.query.dialect import sql_of
from reeldb.query.logic import Logic
from reeldb.query.order import chosen_order
from reeldb.query.rewrite import Rewritten
from reeldb.query.trees import conjuncts, has_unnest, has_window, is_aggregated, is_scan, sources
from reeldb.query.units import NAME, key_name


@dataclass(frozen=True, slots=True)
class Nearest:
    """The `rows` best rows of `relation` by a unit, among those that `within` gives (column k;
    None: among all)."""

    unit: int
    scan: str
    relation: str
    rows: int
    within: str | None


def nearest_of(rewritten: Rewritten) -> Nearest | None:
    """The search that a statement is, or None where it is not one.

    One scan, one order, a LIMIT, and conditions that are known without the similarity: with a
    second order, equal rows at the end could be other ones.
    """
    q = rewritten.tree
    if not isinstance(q, exp.Select) or not _is_plain(q):
        return None
    items = sources(q)
    rows, order = _rows(q), chosen_order(q)
    if rows is None or len(order) != 1 or len(items) != 1 or not is_scan(items[0]):
        return None
    unit = _unit_of(order[0], rewritten)
    scan = rewritten.scans[items[0].alias]
    if unit is None or sum(s.relation == scan.relation for s in rewritten.scans.values()) != 1:
        return None
    where = conjuncts(q.args["where"].this) if q.args.get("where") else []
    logic = Logic({}, lambda _: True)
    if any(not logic.settled(c) or _reads_dense(c) for c in where):
        return None
    within = None
    if where or scan.video_id is not None:
        found = exp.select(exp.alias_(exp.column(key_name(scan.alias), scan.alias), "k"))
        found = found.from_(items[0].copy()).where(*(c.copy() for c in where))
        within = sql_of(found.order_by("k"))
    return Nearest(unit, scan.alias, scan.relation, rows, within)


def _is_plain(q: exp.Select) -> bool:
    if is_aggregated(q) or any(q.args.get(k) for k in ("distinct", "qualify", "joins")):
        return False
    return not any(has_window(x) or has_unnest(x) for x in q.selects)


def _rows(q: exp.Select) -> int | None:
    limit, offset = q.args.get("limit"), q.args.get("offset")
    if limit is None or limit.args.get("limit_options"):
        return None
    parts = [limit.expression, *([offset.expression] if offset is not None else [])]
    if any(not isinstance(p, exp.Literal) or p.is_string for p in parts):
        return None
    return sum(int(str(p.this)) for p in parts)


def _unit_of(item: exp.Expr, rewritten: Rewritten) -> int | None:
    """The unit of `similarity(image, ...) DESC`."""
    key = item.this.unnest()
    match = NAME.match(key.name) if isinstance(key, exp.Column) else None
    if match is None or match[1] != "c" or not item.args.get("desc"):
        return None
    number = int(match[2])
    last = not item.args.get("nulls_first")
    return number if last and rewritten.units[number].kind == "similarity" else None


def _reads_dense(node: exp.Expr) -> bool:
    return any((m := NAME.match(c.name)) and m[1] == "c" for c in node.find_all(exp.Column))
