"""ASK: from a question to an answer with evidence, kept in `answers`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from reeldb.query.answer import Answer, choices_of
from reeldb.query.budget import Budget, Limits
from reeldb.query.catalog import Catalog
from reeldb.query.expected import Expected, expected
from reeldb.query.facts import facts_of
from reeldb.query.fillers.base import Work
from reeldb.query.operators.captions import KEPT
from reeldb.query.operators.grid import Grid, grid_of
from reeldb.query.operators.scope import Spans, scope_of
from reeldb.query.operators.tools import ToolReader
from reeldb.query.operators.trace import Watch
from reeldb.query.pictures import PictureReader
from reeldb.query.reasoners.choose import made, reasoner_for
from reeldb.query.roles import ROLES, Cast
from reeldb.query.strategies.auto import Facts, pick
from reeldb.query.strategies.plan import Shape, calls_of, captions_of
from reeldb.query.strategies.registry import AUTO, STRATEGIES, Chosen, chosen
from reeldb.query.task import Task
from reeldb.query.variables import CHOICES
from reeldb.schema.errors import ArchiveError, BindError, BudgetError

if TYPE_CHECKING:
    from reeldb.index.snapshot import Snapshot
    from reeldb.query.engine import Engine
    from reeldb.query.strategies.verdict import Verdict

MOST_CHOICES = 26
UNASKED = 256  # captions and calls that need no confirmation
CHOSE = ("strategy", "because")  # of what `auto` says
CALLS_A_REPLY = 2  # the request, and one to repair a reply that cannot be read


@dataclass(frozen=True, slots=True)
class Question:
    """A question before it is planned.

    `scope` is the text after FROM, with its WHERE; `videos` are ids that narrow it further.
    `budget` holds limits by unit; without any, the strategy's own bound is the budget.
    """

    text: str
    choices: tuple[str, ...] = ()
    scope: str | None = None
    videos: tuple[str, ...] = ()
    strategy: str = "auto"
    options: Mapping[str, object] = field(default_factory=dict)
    budget: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, object] = field(default_factory=dict)
    statement: str = ""
    summary: bool = False

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise BindError("the question is empty")
        if len(self.choices) == 1 or len(self.choices) > MOST_CHOICES:
            raise BindError(f"{len(self.choices)} choices: give none, or 2 to {MOST_CHOICES}")
        if len(set(self.choices)) < len(self.choices):
            raise BindError("two choices are the same text")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that is bound: its strategy, its models and the moments it is about."""

    question: Question
    chosen: Chosen
    cast: Cast
    scope: str | None
    spans: Spans | None
    spent: int = 0
    cost: tuple[int, float | None] = (0, 0.0)  # tokens and dollars of finding the scope
    partial: bool = False
    notes: tuple[str, ...] = ()
    auto: Mapping[str, object] | None = None  # what `auto` went by, and what it chose

    def grid(self, catalog: Catalog) -> Grid:
        if self.spans is None:
            ids = catalog.snapshot.videos["video_id"].to_pylist()
            return grid_of(catalog, ((v, 0.0, float("inf")) for v in ids))
        return grid_of(catalog, self.spans)

    def shape(self, grid: Grid) -> Shape:
        chat = self.by() == "chat"
        sees = self.cast.sees("reasoner") if chat else not self.question.summary
        return Shape(len(grid), len(grid.videos()), chat, sees, grid.step_s, grid.scenes())

    def by(self) -> str:
        """Which reasoner answers."""
        return reasoner_for(self.cast, self.chosen.reasoner)


def bound(engine: Engine, question: Question, *, dry: bool = False) -> Asked:
    """Binds the question, runs the statement that finds its scope, and lets `auto` choose;
    `dry` calls no model."""
    auto = question.strategy == AUTO
    picked = chosen(question.strategy, question.options)
    cast = Cast(engine.models, picked.roles)
    reasoner_for(cast, picked.reasoner)
    scope, parameters = _scope(question)
    found = scope_of(engine, scope, parameters, {"calls": 0} if dry else question.budget)
    asked = Asked(question, picked, cast, scope, found.spans)
    if found.result is not None:
        result = found.result
        asked = replace(
            asked, spent=int(result.stats.get("calls", 0)), cost=result.cost(),
            partial=result.status != "complete",
            notes=tuple(result.notes),
        )  # fmt: skip
    return engine.archive.read(lambda s: _picked(Catalog(s), asked)) if auto else asked


def _picked(catalog: Catalog, asked: Asked) -> Asked:
    """The question with the strategy that `auto` chooses for it, and why."""
    facts = facts_of(catalog, asked)
    choice = pick(facts, STRATEGIES)
    options = {**choice.options, **asked.question.options}
    question = replace(asked.question, strategy=choice.strategy, options=options)
    notes = asked.notes
    if facts.kind == "lookup" and choice.strategy != "lookup":
        notes = (*notes, *_no_lookup(facts))
    return replace(
        asked, question=question, chosen=chosen(choice.strategy, options), notes=notes,
        auto={**facts.record(), "strategy": choice.strategy, "because": choice.because},
    )  # fmt: skip


def _no_lookup(facts: Facts) -> list[str]:
    if facts.chat:
        return []
    return [
        "this looks like a lookup over tables, but writing a SELECT takes a chat model and none "
        'is set; write it yourself: reel sql "SELECT ..."'
    ]


Confirm = Callable[[Expected], bool]


def ask(
    engine: Engine,
    question: Question,
    watch: Watch | None = None,
    confirm: Confirm | None = None,
) -> Answer:
    """Answers the question, and keeps the answer where the archive can be written.

    `watch` is shown each step as it ends. Without a budget, a question that may take more than
    256 captions and calls is put to `confirm` first; BudgetError where it says no.
    """
    started = time.monotonic()
    asked = bound(engine, question)
    if confirm is not None and not question.budget:
        engine.archive.read(lambda s: _confirm(s, asked, confirm))
    answer = engine.archive.read(lambda s: answered(engine, s, asked, watch=watch))
    return _keep(engine, replace(answer, seconds=time.monotonic() - started))


def _confirm(snapshot: Snapshot, asked: Asked, confirm: Confirm) -> None:
    catalog = Catalog(snapshot)
    lines = asked.chosen.strategy.plan(asked.shape(asked.grid(catalog)))
    cost = expected(lines, asked.cast, catalog)
    if cost.captions + cost.calls > UNASKED and not confirm(cost):
        raise BudgetError("not asked; give a budget, such as --budget '50 captions'")


def answered(
    engine: Engine,
    snapshot: Snapshot,
    asked: Asked,
    *,
    watch: Watch | None = None,
    recorded: Mapping[str, str] | None = None,
) -> Answer:
    """The answer on one snapshot; `recorded` are the ledger keys of one that is replayed, with
    what became of them."""
    started, catalog = time.monotonic(), Catalog(snapshot)
    grid = asked.grid(catalog)
    strategy, question = asked.chosen.strategy, asked.question
    budget = Budget(limits_of(question.budget, asked, grid))
    if question.budget:
        budget.take("looks", asked.spent)
    budget.add("the scope", *asked.cost)
    notes = list(asked.notes)
    pictures = PictureReader(engine.opener, notes)
    lazy = frozenset(n for n in CHOICES if getattr(engine.variables, n) == "lazy")
    work = Work(
        catalog, asked.cast.models, engine.ledger(), budget, pictures, notes, {}, lazy
    )  # fmt: skip
    task = Task(
        question.text, choices_of(question.choices), grid, work, asked.cast,
        bounded=bool(question.budget), recorded=recorded, watch=watch, summary=question.summary,
        tools=ToolReader(engine, work, cached=recorded is not None),
    )  # fmt: skip
    task.partial = asked.partial
    if asked.auto is not None:
        with task.trace.step("auto", {k: v for k, v in asked.auto.items() if k not in CHOSE}) as c:
            c.outputs = {k: asked.auto[k] for k in CHOSE}
    try:
        reasoner = made(asked.by(), task, summary=question.summary)
        verdict = strategy.answer(task, reasoner)
    finally:
        pictures.close()
    if budget.ended_by is not None:
        task.note(f"the budget ended the looking: {budget.ended_by}")
    if reasoner.note:
        task.note(reasoner.note)
    return _answer(asked, task, verdict, reasoner.name, snapshot, time.monotonic() - started)


def limits_of(amounts: Mapping[str, float], asked: Asked, grid: Grid) -> Limits:
    """The budget as limits; a kind that it does not name has the strategy's own bound."""
    lines = asked.chosen.strategy.plan(asked.shape(grid))
    given = Limits.of(amounts) if amounts else Limits()
    if given.calls is not None:
        return given
    captions = captions_of(lines) if "captions" not in amounts else given.captions
    return replace(given, captions=captions, chats=CALLS_A_REPLY * calls_of(lines))


def _answer(
    asked: Asked, task: Task, verdict: Verdict, reasoner: str, snapshot: Snapshot, seconds: float
) -> Answer:
    question = asked.question
    status = "partial" if verdict.status == "complete" and task.partial else verdict.status
    used = {str(r): a for r, a in asked.cast.models.roles.items() if a}
    return Answer(
        id=uuid4().hex,
        question=question.text,
        answer=verdict.answer,
        choice=verdict.choice,
        confidence=verdict.confidence,
        status=status,
        evidence=verdict.evidence,
        strategy=asked.chosen.strategy.name,
        reasoner=reasoner,
        statement=question.statement,
        plan=_plan(asked, task, snapshot),
        models=used,
        notes=tuple(task.notes),
        trace=tuple(task.trace.steps),
        reply_keys=tuple(k for k, state in task.keys.items() if state == KEPT),
        calls=task.trace.total("calls") + asked.spent,
        captions_made=task.captions_made,
        captions_reused=task.captions_reused,
        tokens=task.work.budget.tokens,
        usd=task.work.budget.dollars,
        seconds=seconds,
    )


def _plan(asked: Asked, task: Task, snapshot: Snapshot) -> dict[str, object]:
    """What a replay needs, and people like to read."""
    return {
        "kind": "summary" if asked.question.summary else "answer",
        "strategy": asked.chosen.strategy.name,
        "options": dict(asked.question.options),
        "choices": list(asked.question.choices),
        "scope": asked.scope or "the whole archive",
        "spans": asked.spans,
        "roles": {r: a for r in ROLES if (a := asked.cast.address(r))},
        "budget": dict(asked.question.budget),
        "failed": {k: state for k, state in task.keys.items() if state != KEPT},
        "versions": dict(snapshot.versions),
    }


def _scope(question: Question) -> tuple[str | None, dict[str, object]]:
    """The scope as one relation expression, and its parameters."""
    parameters = dict(question.parameters)
    if not question.videos:
        return question.scope, parameters
    names = [f"$reel_in{i}" for i in range(len(question.videos))]
    parameters |= {f"reel_in{i}": v for i, v in enumerate(question.videos)}
    inner = f"(SELECT * FROM {question.scope})" if question.scope else "videos"
    return f"{inner} AS r WHERE r.video_id IN ({', '.join(names)})", parameters


def _keep(engine: Engine, answer: Answer) -> Answer:
    """Writes the answer down; an archive that cannot be written still answers, and says so."""
    try:
        with engine.archive.lock():
            engine.archive.store.append("answers", answer.row())
    except ArchiveError as error:
        return replace(answer, notes=(*answer.notes, f"the answer was not kept: {error}"))
    return answer
