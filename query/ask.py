"""ASK: from a question to an answer with evidence, kept in `answers`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from reeldb.query.answer import Answer, choices_of
from reeldb.query.reasoners.embedding import EmbeddingReasoner
from reeldb.query.strategies.registry import strategy
from reeldb.query.task import Task, scope_of
from reeldb.schema.errors import ArchiveError, BindError

if TYPE_CHECKING:
    from reeldb.query.engine import Engine

MOST_CHOICES = 26


@dataclass(frozen=True, slots=True)
class Question:
    """A question before it is planned.

    `scope` is the text after FROM, with its WHERE; `videos` are ids that narrow it further.
    `budget` holds limits by unit.
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

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise BindError("the question is empty")
        if len(self.choices) == 1 or len(self.choices) > MOST_CHOICES:
            raise BindError(f"{len(self.choices)} choices: give none, or 2 to {MOST_CHOICES}")
        if len(set(self.choices)) < len(self.choices):
            raise BindError("two choices are the same text")


def ask(engine: Engine, question: Question) -> Answer:
    """Answers the question, and keeps the answer where the archive can be written."""
    started = time.monotonic()
    chosen = strategy(question.strategy, question.options)
    scope, parameters = _scope(question)
    task = Task(
        engine,
        question.text,
        choices_of(question.choices),
        scope_of(engine, scope, parameters),
        parameters,
        dict(question.budget),
    )
    verdict = chosen.answer(task)
    status = "partial" if verdict.status == "complete" and task.partial else verdict.status
    if verdict.reasoner == EmbeddingReasoner.name:
        task.notes.append(EmbeddingReasoner.note)
    answer = Answer(
        id=uuid4().hex,
        question=question.text,
        answer=verdict.answer,
        choice=verdict.choice,
        confidence=verdict.confidence,
        status=status,
        evidence=verdict.evidence,
        strategy=chosen.name,
        reasoner=verdict.reasoner,
        statement=question.statement,
        plan={"strategy": chosen.name, **verdict.options, "scope": scope or "the whole archive"},
        models={r: a for r, a in engine.models.roles.items() if a},
        notes=tuple(task.notes),
        trace=tuple(task.trace),
        calls=int(task.spent.get("calls", 0)),
        captions_made=int(task.spent.get("captions", 0)),
        captions_reused=int(task.spent.get("reused", 0)),
        tokens=int(task.spent.get("tokens", 0)),
        seconds=time.monotonic() - started,
    )
    return _keep(engine, answer)


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
        from dataclasses import replace

        return replace(answer, notes=(*answer.notes, f"the answer was not kept: {error}"))
    return answer
