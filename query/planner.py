"""From the rewritten tree to a plan: which reads, in which order, asked by which key queries.

Barriers, each exact before anything above it is asked: derived tables and operands of set
operations; ON of an outer join, in join order; WHERE with the ON of inner joins; GROUP BY,
aggregates, HAVING, windows, QUALIFY, ORDER BY, DISTINCT; then the SELECT list, for the rows
that survive LIMIT only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from reeldb.query import plan as p
from reeldb.query.block import BlockPlan
from reeldb.query.dialect import sql_of
from reeldb.query.frame_choice import FrameChoice
from reeldb.query.keys import key_query
from reeldb.query.logic import Logic, is_read
from reeldb.query.names import Names
from reeldb.query.nearest import nearest_of
from reeldb.query.order import chosen_order
from reeldb.query.plan import Fill, Node, Plan, Read, TopRows
from reeldb.query.rewrite import Rewritten, lazy_relations
from reeldb.query.trees import is_scan
from reeldb.query.units import Slot, is_one_of, slot_of
from reeldb.query.uses import Ask, Outers, Use, slot_read


def plan_of(
    rewritten: Rewritten,
    said: dict[str, str],
    choices: dict[str, FrameChoice],
    *,
    shown: bool,
    blind: bool = False,
) -> Plan:
    """`said` gives the user's name of each alias; `shown` plans have texts and bounds, `blind`
    ones bounds that hold whatever cosines of pictures are."""
    names = Names(said, tuple(rewritten.units), not shown)
    planner = Planner(rewritten, names, choices, blind)
    root = planner.query(rewritten.tree, ())
    scans, units = dict(rewritten.scans), tuple(rewritten.units)
    return Plan(root, rewritten.tree, units, scans, said, planner.nearest, choices)


class Planner:
    """Plans queries and makes their fills.

    `open` holds the queries whose slots are not filled yet at this point of the plan.
    """

    def __init__(
        self,
        rewritten: Rewritten,
        names: Names,
        choices: dict[str, FrameChoice],
        blind: bool = False,
    ) -> None:
        self.choices, self.unknown_choices = choices, choices if blind else {}
        self.rewritten, self.names = rewritten, names
        lazy = lazy_relations(rewritten.scans)
        self.with_slots = {
            id(q)
            for q in rewritten.tree.find_all(exp.Query)
            if any(map(slot_of, q.find_all(exp.Column)))
        }
        self.open = set(self.with_slots)
        self.now = Logic(lazy, lambda q: id(q) in self.open)
        units = rewritten.units if blind else ()
        self.blind = frozenset(
            i for i, u in enumerate(units) if u.kind == "similarity" and u.at_once
        )
        self.not_ahead = self.with_slots | {
            id(q) for q in rewritten.tree.find_all(exp.Query) if blind and self.is_unknown(q)
        }
        self.ahead = Logic(lazy, lambda q: id(q) in self.not_ahead, self.blind)
        self.fills = 0
        self.nearest = nearest_of(rewritten)
        self.scan_nodes = {n.alias: n for n in rewritten.tree.find_all(exp.Subquery) if is_scan(n)}

    def holds_slots(self, node: exp.Expr) -> bool:
        return self.is_unknown(node) or any(is_read(c) for c in node.find_all(exp.Column))

    def is_unknown(self, node: exp.Expr) -> bool:
        """Whether `node` holds a cosine, or frames chosen by one, that nobody may ask for."""
        if any(is_one_of(c, self.blind) for c in node.find_all(exp.Column)):
            return True
        return any(t.name in self.unknown_choices for t in node.find_all(exp.Table))

    # Queries

    def query(self, q: exp.Expr, chain: Outers) -> Node:
        if isinstance(q, exp.Subquery):
            return self.query(q.this, chain)
        if isinstance(q, exp.SetOperation):
            return self._set_operation(q, chain)
        if not isinstance(q, exp.Select):
            raise AssertionError(f"no plan for {type(q).__name__}")
        node = BlockPlan(self, q, chain).node()
        self.open.discard(id(q))
        return node

    def _set_operation(self, q: exp.SetOperation, chain: Outers) -> Node:
        left, right = self.query(q.this, chain), self.query(q.expression, chain)
        self.open.discard(id(q))
        kind = q.key.upper() + ("" if q.args.get("distinct", True) else " ALL")
        return self.ordered(p.SetOperation((left, right), kind), q)

    def ordered(self, node: Node, q: exp.Query) -> Node:
        """ORDER BY and LIMIT on top of a node."""
        if q.args.get("order") is not None:
            text = ", ".join(self.names.say(o) for o in chosen_order(q)) or "key order"
            node = p.Sort((node,), text)
        if q.args.get("limit") is not None or q.args.get("offset") is not None:
            parts = [self.names.say(q.args[k].expression) if q.args.get(k) else "" for k in
                     ("limit", "offset")]  # fmt: skip
            text = parts[0] + (f" offset {parts[1]}" if parts[1] else "")
            node = p.Limit((node,), text.strip())
        return node

    # Fills

    def fill(
        self,
        child: Node,
        clause: str,
        uses: Sequence[Use],
        ask: Ask,
        cap: int | None = None,
        *,
        sure: bool = True,
        top: Callable[[Sequence[Use]], TopRows] | None = None,
    ) -> Node:
        """A Fill over `child` for these uses, or `child` itself where there are none."""
        seen: dict[int, Use] = {}
        for use in uses:
            seen.setdefault(id(use.column), use)
        kept = sorted(seen.values(), key=lambda u: self._cost(u.column))
        if not kept:
            return child
        before = ask if sure else self._whole_scan
        made = [self._read(u, clause, ask, before, cap) for u in kept]
        self.fills += 1
        label = f"{self.names.label(kept[0].column)} " if len(kept) == 1 else ""
        text = f"{label}for {clause}"
        rows = top(kept) if top is not None else None
        return Fill((child,), text, tuple(made), rows, self.fills)

    def _whole_scan(self, use: Use, logic: Logic) -> exp.Select:
        """All rows of the scan without a value: a bound where nothing better is known."""
        slot = replace(slot_read(use), table=slot_read(use).scan)
        return key_query((), exp.Select().from_(self.scan_nodes[slot.scan].copy()), slot, [])

    def _cost(self, column: exp.Column) -> float:
        slot = slot_of(column)
        if slot is None or slot.unit < 0:
            return 0.7
        return self.rewritten.units[slot.unit].cost

    def _read(self, use: Use, clause: str, ask: Ask, ahead: Ask, cap: int | None) -> Read:
        slot = slot_of(use.column)
        if slot is None:
            raise AssertionError("a read of no slot")
        relation = self.rewritten.scans[slot.scan].relation
        query = sql_of(ask(use, self.now))
        bound = "" if self.names.silent else sql_of(ahead(use, self.ahead))
        passing = self._passing(use, slot) if clause == "WHERE" else ""
        return Read(slot.unit, slot.scan, relation, clause, query, bound, cap, passing)

    def _passing(self, use: Use, slot: Slot) -> str:
        """How many rows of the scan have what the condition reads, and how many pass."""
        scan = self.scan_nodes.get(slot.scan)
        columns = [*use.root.find_all(exp.Column)]
        if slot.unit < 0 or scan is None or use.root.find(exp.Query):
            return ""
        if any(c.table != slot.scan for c in columns if c.table):
            return ""
        looked = [s.looked for s in self.now.flags(use.root)]
        n = exp.alias_(exp.Count(this=exp.Star()), "n")
        t = exp.alias_(exp.CountIf(this=exp.paren(use.root.copy())), "t")
        return sql_of(exp.select(n, t).from_(scan.copy()).where(*looked))
