"""What a strategy comes to, before it is written down as an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reeldb.query.answer import AnswerStatus, Choice, Evidence

if TYPE_CHECKING:
    from reeldb.query.task import Task


@dataclass(frozen=True, slots=True)
class Verdict:
    """Answer text, the chosen option, and the spans it rests on."""

    answer: str
    choice: Choice | None
    confidence: float | None
    evidence: tuple[Evidence, ...]
    reasoner: str
    status: AnswerStatus = "complete"
    options: Mapping[str, object] = field(default_factory=dict)


def insufficient(task: Task, reasoner: str, why: str) -> Verdict:
    """Nothing in the scope could be looked at: no answer, and the reason."""
    task.notes.append(why)
    return Verdict("", None, None, (), reasoner, "insufficient")
