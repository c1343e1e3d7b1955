"""EXPLAIN and EXPLAIN ANALYZE: the plan as a tree of lines, with what fills cost.

EXPLAIN asks the key queries before anything is filled: their answers bound what a run can
ask for. It calls no captioner, chat model or tool. ANALYZE runs the statement and shows what
happened on the same tree.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from reeldb.index.snapshot import Snapshot
from reeldb.query import parse as ast
from reeldb.query.budget import Limits
from reeldb.query.cost import Cost, Costs, bounds
from reeldb.query.engine import Engine
from reeldb.query.filling import Counts
from reeldb.query.measured import Measured
from reeldb.query.params import Parameters
from reeldb.query.plan import Fill, Node, Read
from reeldb.query.prepare import prepare
from reeldb.query.prices import is_here
from reeldb.query.result import Result
from reeldb.query.row_counts import RowCounts
from reeldb.query.run import Running
from reeldb.query.variables import Variables


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
        blind = not analyze and is_blind(engine)
        prepared = prepare(
            engine, snapshot, statement, parameters, variables, shown=True, blind=blind
        )
        running = Running(engine, session, prepared, statement.budget or limits, asks=analyze)
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
            lines = tree_lines(running, costs, analyze)
        finally:
            running.close()
    lines = [*lines, *end, *(f"note: {n}" for n in notes)]
    return Result(pa.table({"plan": pa.array(lines)}), ["plan"])


def is_blind(engine: Engine) -> bool:
    """Whether cosines of pictures would take a call to a server, which EXPLAIN never makes."""
    address = engine.models.address("embedder")
    return address is not None and not is_here(address)


def happened(running: Running) -> Costs:
    """What each read took, after a run."""
    out: Costs = {}
    for fill in running.plan.fills:
        for i in range(len(fill.reads)):
            n = running.filling.counts.get((fill.number, i), Counts())
            rows = n.cached + n.made + n.nulls
            out[fill.number, i] = Cost(rows, n.cached, n.made, n.nulls)
    return out


def tree_lines(running: Running, costs: Costs, analyze: bool) -> list[str]:
    expected = RowCounts(running, exact=analyze)
    return list(_lines(running, running.plan.root, costs, expected, "", ""))


def _lines(
    running: Running, node: Node, costs: Costs, expected: RowCounts, first: str, rest: str
) -> Iterator[str]:
    yield first + node.line + _details(running, node, costs, expected)
    children = list(node.children)
    for i, child in enumerate(children):
        last = i == len(children) - 1
        yield from _lines(
            running, child, costs, expected,
            rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "),
        )  # fmt: skip


def _details(running: Running, node: Node, costs: Costs, expected: RowCounts) -> str:
    if not isinstance(node, Fill):
        rows = expected.said(node)
        return f": {rows}" if rows else ""
    parts = []
    for i, read in enumerate(node.reads):
        cost = costs[node.number, i]
        name = f"{_label(running, read)}: " if len(node.reads) > 1 else ""
        counts = f"{cost.cached:,} cached, "
        counts += f"{cost.nulls:,} read as NULL, " if cost.nulls else ""
        made = f"{cost.made:,}"
        counts += f"{made} computed" if expected.exact else f"at most {made} to compute"
        parts.append(name + counts + ("" if expected.exact else _calls(running, cost)))
    stops = "; stops at LIMIT" if node.top is not None else ""
    return ": " + "; ".join(parts) + stops


def _label(running: Running, read: Read) -> str:
    said = running.plan.said.get(read.scan, read.scan)
    if read.unit < 0:
        return f"rows of {said}"
    return running.plan.units[read.unit].label(said)


def _calls(running: Running, cost: Cost) -> str:
    return f" ({cost.said()}; {amounts(running, cost)})" if cost.calls else ""


def _summary(running: Running, total: Cost) -> str:
    if not total.calls:
        return "nothing to compute: no model is called"
    return f"at most {total.said()}; {amounts(running, total)}"


def amounts(running: Running, cost: Cost) -> str:
    """Seconds and dollars of calls, from what the archive has measured and the price table."""
    measured = Measured(running.prepared.catalog, running.engine.models)
    seconds, usd = measured.seconds(cost.by_call), measured.usd(cost.by_call)
    time = "no time measured yet" if seconds is None else f"about {seconds:.3g} s"
    money = usd if isinstance(usd, str) else f"about {usd:.2g} USD" if usd else "free"
    return f"{time}, {money}"


def _spent(result: Result) -> list[str]:
    stats = result.stats
    made = [f"{stats[k]:,} {name}" for k, name in
            (("captions_made", "captions"), ("replies", "replies"), ("looks", "looks"))
            if stats[k]]  # fmt: skip
    calls = ", ".join(made) or "no model was called"
    return [f"{calls}; models {stats['model_seconds']:g} s, SQL {stats['sql_seconds']:g} s"]
