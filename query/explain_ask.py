"""EXPLAIN ASK: the operators of a question with what each may cost, and of every other way.

Nothing is called: the scope is found from stored values. ANALYZE asks the question and shows
what each operator did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from reeldb.query.answer import Answer, Step
from reeldb.query.ask import Asked, Question, ask, bound, limits_of
from reeldb.query.catalog import Catalog
from reeldb.query.expected import expected, held
from reeldb.query.result import Result
from reeldb.query.strategies.registry import STRATEGIES
from reeldb.schema.counts import counted

if TYPE_CHECKING:
    from reeldb.index.snapshot import Snapshot
    from reeldb.query.engine import Engine
    from reeldb.query.operators.grid import Grid
    from reeldb.query.strategies.plan import Line


def explain_ask(engine: Engine, question: Question, *, analyze: bool = False) -> Result:
    """The tree, one line a row."""
    if analyze:
        lines = happened(ask(engine, question))
    else:
        asked = bound(engine, question, dry=True)
        lines = engine.archive.read(lambda s: planned(s, asked))
    return Result(pa.table({"plan": pa.array(lines)}), ["plan"])


def planned(snapshot: Snapshot, asked: Asked) -> list[str]:
    catalog = Catalog(snapshot)
    grid = asked.grid(catalog)
    lines = asked.chosen.strategy.plan(asked.shape(grid))
    shown = [_line(x, _held(catalog, grid, x, asked)) for x in lines]
    head = f"Answer by {asked.chosen.strategy.name}, {_who(asked)}"
    if asked.auto is not None:
        head += f"; auto chose it: {asked.auto['because']}"
    scope = f"Scope: {counted(len(grid.videos()), 'video')}, {counted(len(grid), 'grid picture')}"
    out = [head, *_tree([scope, *shown])]
    out.append(str(expected(lines, asked.cast, catalog)))
    out.append(f"limits: {limits_of(asked.question.budget, asked, grid)}")
    out += [f"note: {n}" for n in asked.notes]
    return [*out, *_others(asked, grid, catalog)]


def _who(asked: Asked) -> str:
    if asked.by() == "embedding":
        return "judged by similarity"
    names = {r: asked.cast.address(r) for r in ("reasoner", "searcher", "judge")}
    return "asking " + ", ".join(dict.fromkeys(str(n) for n in names.values()))


def _held(catalog: Catalog, grid: Grid, line: Line, asked: Asked) -> int:
    if not line.captions:
        return 0
    return held(catalog, grid, line.kind, asked.cast.captioner().identity)


def _line(line: Line, in_ledger: int) -> str:
    parts = []
    if line.captions:
        parts.append(f"at most {line.captions:,} captions")
        parts.append(f"{in_ledger:,} `{line.kind}` captions of the scope are in the ledger")
    if line.calls:
        parts.append(f"at most {line.calls:,} calls")
    if line.about:
        parts.append(line.about)
    name = line.operator.capitalize()
    return f"{name}: {'; '.join(parts)}" if parts else name


def _others(asked: Asked, grid: Grid, catalog: Catalog) -> list[str]:
    """The same question by every other strategy, with its default options."""
    out = ["other strategies, with their defaults:"]
    for name, kind in STRATEGIES.items():
        if name != asked.chosen.strategy.name:
            cost = expected(kind().plan(asked.shape(grid)), asked.cast, catalog)
            out.append(f"  {name}: {cost}")
    return out


def happened(answer: Answer) -> list[str]:
    """The steps of an answer, and what they came to."""
    head = f"Answer by {answer.strategy}, {answer.reasoner}: {answer.status}"
    total = f"{answer.captions_made:,} captions made, {answer.captions_reused:,} reused; "
    total += f"{answer.calls:,} calls, {answer.tokens:,} tokens, {answer.seconds:.3g} s"
    notes = [f"note: {n}" for n in answer.notes]
    return [head, *_tree([step_line(s) for s in answer.trace]), total, *notes]


def step_line(step: Step) -> str:
    """One operator that ran, in a line."""
    made = [f"{step.made:,} made", f"{step.reused:,} reused"] if step.made or step.reused else []
    calls = [f"{step.calls:,} calls"] if step.calls else []
    tokens = [f"{step.tokens:,} tokens"] if step.tokens else []
    about = ", ".join([*_said(step.inputs), *made, *calls, *tokens, f"{step.seconds:.2g} s"])
    return f"{step.operator.capitalize()}: {about}"


def _said(inputs: Mapping[str, object]) -> list[str]:
    """What went in, in a few words."""
    pictures = inputs.get("pictures")
    out = [f"{inputs['kind']}"] if "kind" in inputs else []
    out += [f"{inputs['role']}"] if "role" in inputs else []
    out += [f"k {inputs['k']}"] if "k" in inputs else []
    return out + ([f"{pictures} pictures"] if pictures else [])


def _tree(lines: Sequence[str]) -> list[str]:
    return [("└─ " if i == len(lines) - 1 else "├─ ") + x for i, x in enumerate(lines)]
