"""What a strategy comes to, before it is written down as an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reeldb.query.answer import AnswerStatus, Choice, Evidence

if TYPE_CHECKING:
    from reeldb.query.reasoners import Conclusion, Reasoner
    from reeldb.query.task import Task

LEFT = 32  # pictures that an answer is made from where nothing else could be paid for
EVIDENCE = 5  # spans that an answer cites at most


@dataclass(frozen=True, slots=True)
class Verdict:
    """Answer text, the chosen option, and the spans it rests on."""

    answer: str
    choice: Choice | None
    confidence: float | None
    evidence: tuple[Evidence, ...]
    status: AnswerStatus = "complete"


def verdict(task: Task, conclusion: Conclusion) -> Verdict:
    """The conclusion with its evidence: what it cites, best first."""
    evidence = task.evidence(conclusion.cites)[:EVIDENCE]
    return Verdict(
        conclusion.answer, conclusion.choice, conclusion.confidence, evidence, conclusion.status
    )


def insufficient(task: Task, why: str) -> Verdict:
    """Nothing in the scope could be looked at: no answer, and the reason."""
    task.note(why)
    return Verdict("", None, None, (), "insufficient")


def from_pictures(task: Task, reasoner: Reasoner, why: str) -> Verdict:
    """Nothing was read, and the budget is why: the call that is kept for the answer goes to
    pictures spread evenly, where the reasoner takes any. Else no answer, and the reason."""
    spent = task.partial or task.work.budget.ended_by is not None
    if reasoner.name != "chat" or not reasoner.sees or not spent:
        return insufficient(task, why)
    task.partial = True
    task.note(f"{why}: the answer is from {LEFT} pictures spread evenly")
    pictures = task.uniform(LEFT)
    return verdict(task, reasoner.conclude(task.show(pictures), pictures))
