"""EXPLAIN and EXPLAIN ANALYZE: the plan as a tree of lines, with what fills cost.

EXPLAIN asks the key queries before anything is filled: their answers bound what a run can
ask for. It calls no captioner, chat model or tool. ANALYZE runs the statement and shows what
happened on the same tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from reeldb.index.snapshot import Snapshot
from reeldb.query import parse as ast
from reeldb.query.budget import Limits
from reeldb.query.engine import Engine
from reeldb.query.params import Parameters
from reeldb.query.plan import Fill, Node, Read, ScanRows
from reeldb.query.result import Result
from reeldb.query.run import Counts, Running, prepare
from reeldb.query.variables import Variables

CALLS = ("captions", "replies", "looks")


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls by kind, at most or as they were; `rows` take part, `cached` of them are known."""

    rows: int = 0
    cached: int = 0
    made: int = 0
    nulls: int = 0
    captions: int = 0
    replies: int = 0
    looks: int = 0

    @property
    def calls(self) -> int:
        return self.captions + self.replies + self.looks


def explain(
    engine: Engine,
    snapshot: Snapshot,
    statement: ast.Select,
    parameters: Parameters,
    variables: Variables,
    limits: Limits | None = None,
) -> Result:
    """The tree, one line a row."""
    analyze = statement.explain == "analyze"
    with engine.session() as session:
        prepared = prepare(engine, snapshot, statement, parameters, variables, shown=True)
        running = Running(engine, session, prepared, statement.budget or limits)
        try:
            if analyze:
                result = running.result()
                costs = happened(running)
                end = [f"{result.row_count:,} rows, {result.status}", *_spent(result)]
                notes = result.notes
            else:
                running.start()
                running.check_types()
                costs, total = bounds(running)
                end = [_summary(running, total), f"limits: {running.budget.limits}"]
                notes = [*running.notes, *running.null_notes()]
        finally:
            running.close()
    lines = [*tree_lines(running, costs, analyze), *end, *(f"note: {n}" for n in notes)]
    return Result(pa.table({"plan": pa.array(lines)}), ["plan"])


Costs = dict[tuple[int, int], Cost]  # by (fill, read)


class Wanted:
    """The calls of a whole statement: what two reads want of one row is made once."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], set[int]] = {}
        self.more: dict[str, int] = {}

    def add(self, kind: str, about: str, keys: Sequence[int], cap: int | None = None) -> int:
        """Counts rows, at most `cap` of them; gives how many that are by themselves."""
        known = self.rows.setdefault((kind, about), set())
        if cap is None or len(keys) <= cap:
            known.update(keys)
            return len(keys)
        self.more[kind] = self.more.get(kind, 0) + min(cap, len(set(keys) - known))
        return cap

    def total(self) -> Cost:
        def of(kind: str) -> int:
            rows = sum(len(r) for (k, _), r in self.rows.items() if k == kind)
            return rows + self.more.get(kind, 0)

        return Cost(captions=of("captions"), replies=of("replies"), looks=of("looks"))


def bounds(running: Running) -> tuple[Costs, Cost]:
    """What each read can ask for at most, how much of it is known, and what all come to."""
    out: Costs = {}
    wanted = Wanted()
    for fill in running.plan.fills:
        for i, read in enumerate(fill.reads):
            keys = running.query(read.bound)["k"].drop_null().to_pylist()
            found = running.fills.recall(read, keys)
            missing = [k for k in keys if not running.fills.is_known(read, k)]
            n = len(missing) if read.cap is None else min(read.cap, len(missing))
            cost = Cost(len(keys), found.known, n, found.nulls)
            calls = _calls_of(running, read, missing, wanted)
            out[fill.number, i] = replace(cost, **calls)
    return out, wanted.total()


def _calls_of(
    running: Running, read: Read, missing: Sequence[int], wanted: Wanted
) -> dict[str, int]:
    """Calls by kind that the missing values of one read can take."""
    fills, cap = running.fills, read.cap
    if read.unit < 0:
        return {"looks": wanted.add("looks", read.relation, missing, cap)}
    unit = running.plan.units[read.unit]
    if unit.kind == "heavy":
        return {}
    if unit.column in ("ocr_text", "speech_text"):
        return {"looks": wanted.add("looks", unit.column, fills.unseen(read, missing))}
    out: dict[str, int] = {}
    if unit.kind == "matches":
        out["replies"] = wanted.add("replies", f"{unit}", missing, cap)
    if unit.kind != "matches" or unit.column == "caption":
        about = unit.relation if unit.kind != "describe" else f"{unit}"
        keys = missing if unit.kind == "describe" else fills.uncaptioned(unit.relation, missing)
        out["captions"] = wanted.add("captions", about, keys, cap)
    return out


def happened(running: Running) -> Costs:
    """What each read took, after a run."""
    out: Costs = {}
    for fill in running.plan.fills:
        for i in range(len(fill.reads)):
            n = running.counts.get((fill.number, i), Counts())
            rows = n.cached + n.made + n.nulls
            out[fill.number, i] = Cost(rows, n.cached, n.made, n.nulls)
    return out


def tree_lines(running: Running, costs: Costs, analyze: bool) -> list[str]:
    return list(_lines(running, running.plan.root, costs, analyze, "", ""))


def _lines(
    running: Running, node: Node, costs: Costs, analyze: bool, first: str, rest: str
) -> Iterator[str]:
    yield first + node.line + _details(running, node, costs, analyze)
    children = list(node.children)
    for i, child in enumerate(children):
        last = i == len(children) - 1
        yield from _lines(
            running, child, costs, analyze,
            rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "),
        )  # fmt: skip


def _details(running: Running, node: Node, costs: Costs, analyze: bool) -> str:
    if isinstance(node, ScanRows):
        return f": {running.prepared.catalog.snapshot.relation(node.relation).num_rows:,} rows"
    if not isinstance(node, Fill):
        return ""
    parts = []
    for i, read in enumerate(node.reads):
        cost = costs[node.number, i]
        name = f"{_label(running, read)}: " if len(node.reads) > 1 else ""
        counts = f"{cost.cached:,} cached, "
        counts += f"{cost.nulls:,} read as NULL, " if cost.nulls else ""
        counts += f"{cost.made:,} computed" if analyze else f"at most {cost.made:,} to compute"
        parts.append(name + counts + ("" if analyze else _calls(running, cost)))
    stops = "; stops at LIMIT" if node.top is not None else ""
    return ": " + "; ".join(parts) + stops


def _label(running: Running, read: Read) -> str:
    said = running.plan.said.get(read.scan, read.scan)
    if read.unit < 0:
        return f"rows of {said}"
    return running.plan.units[read.unit].label(said)


def _calls(running: Running, cost: Cost) -> str:
    calls = [f"{getattr(cost, k):,} {k}" for k in CALLS if getattr(cost, k)]
    if not calls:
        return ""
    seconds = _seconds(running, cost)
    return f" ({', '.join(calls)}{'' if seconds is None else f', about {seconds:.3g} s'})"


def _summary(running: Running, total: Cost) -> str:
    if not total.calls:
        return "nothing to compute: no model is called"
    calls = ", ".join(f"{getattr(total, k):,} {k}" for k in CALLS if getattr(total, k))
    seconds = _seconds(running, total)
    time = "time not measured yet" if seconds is None else f"about {seconds:.3g} s"
    return f"at most {calls}; {time}"


def _spent(result: Result) -> list[str]:
    stats = result.stats
    made = [f"{stats[k]:,} {name}" for k, name in
            (("captions_made", "captions"), ("replies", "replies"), ("looks", "looks"))
            if stats[k]]  # fmt: skip
    calls = ", ".join(made) or "no model was called"
    return [f"{calls}; models {stats['model_seconds']:g} s, SQL {stats['sql_seconds']:g} s"]


def _seconds(running: Running, cost: Cost) -> float | None:
    """From this archive's own measured rates; None where a kind was never measured."""
    total = 0.0
    for kind in CALLS:
        calls = getattr(cost, kind)
        if calls:
            rate = measured_rate(running, kind)
            if rate is None:
                return None
            total += calls * rate
    return total


def measured_rate(running: Running, kind: str) -> float | None:
    """Seconds a call of the current model took on average, in this archive."""
    models, catalog = running.engine.models, running.prepared.catalog
    table = {"captions": "captions", "looks": "tool_runs", "replies": "replies"}[kind]
    roles = {"captions": ("captioner",), "looks": ("ocr", "objects"), "replies": ("chat", "vision")}
    used = [m for r in roles[kind] if (m := models.get(r)) is not None]  # type: ignore[arg-type]
    identities = tuple(m.identity for m in used)

    def make() -> float | None:
        rows = catalog.snapshot.rows(table, ["model", "seconds"])
        mine = pc.is_in(rows["model"], value_set=pa.array(identities, pa.string()))
        seconds = rows.filter(pc.and_(mine, pc.greater(rows["seconds"], 0)))["seconds"]
        mean: float | None = pc.mean(seconds).as_py() if len(seconds) else None
        return mean

    return catalog.kept(f"rate {kind}", [table], identities, make)
