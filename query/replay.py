"""REPLAY: an answer made again from what is on record, without asking any model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reeldb.index.snapshot import Snapshot
from reeldb.query.answer import Answer
from reeldb.query.ask import Asked, Question, answered
from reeldb.query.operators.captions import KEPT
from reeldb.query.operators.trace import Watch
from reeldb.query.roles import Cast
from reeldb.query.strategies.registry import chosen
from reeldb.schema.errors import BindError, VersionGone

if TYPE_CHECKING:
    from reeldb.query.engine import Engine

COMPACTED = "the archive was compacted since: replayed on its rows of now"


def replay(engine: Engine, id: str, watch: Watch | None = None) -> Answer:
    """The answer of this id, every operator run again on the recorded captions and replies, on
    the archive as it was where that version is still there. It is not kept a second time.

    Raises BindError where there is no such answer, and ExecuteError, which names it, where a
    caption or reply that it used is gone.
    """
    row = engine.ledger().answer(id)
    plan = json.loads(row["plan"])
    if "versions" not in plan:
        raise BindError(f"answer {id} was made before answers could be replayed; ask again")
    asked = _asked(row, plan)
    recorded = dict.fromkeys(row["reply_keys"], KEPT) | plan["failed"]

    def on(snapshot: Snapshot) -> Answer:
        return answered(engine, snapshot, asked, watch=watch, recorded=recorded)

    then = Snapshot(engine.archive, {str(t): int(v) for t, v in plan["versions"].items()})
    try:
        answer = on(then)
    except VersionGone:
        answer = engine.archive.read(on)
        answer = replace(answer, notes=(*answer.notes, COMPACTED))
    return replace(answer, id=id, statement=row["statement"] or "")


def _asked(row: Mapping[str, Any], plan: Mapping[str, Any]) -> Asked:
    """The question as it was bound: the same moments, the same models."""
    from reeldb.models.registry import Models

    question = Question(
        text=row["question"],
        choices=tuple(plan["choices"]),
        strategy=plan["strategy"],
        options=plan["options"],
        budget=plan["budget"],
        statement=row["statement"] or "",
        summary=plan.get("kind") == "summary",
    )
    picked = chosen(question.strategy, question.options)
    spans = plan["spans"]
    return Asked(
        question,
        picked,
        Cast(Models(json.loads(row["models"])), picked.roles),
        None if plan["scope"] == "the whole archive" else plan["scope"],
        None if spans is None else [(v, a, b) for v, a, b in spans],
    )
