"""What a reasoner decides, and in which words a strategy asks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    from reeldb.query.answer import AnswerStatus, Choice
    from reeldb.query.task import Picture, Seen


@dataclass(frozen=True, slots=True)
class Conclusion:
    """An answer to the question. `cites` are the things seen that it rests on,
    best first; `status` is complete, insufficient (what was seen does not tell), unparsed,
    failed, or partial (the budget ended before the answer)."""

    answer: str
    choice: Choice | None
    confidence: float | None
    cites: tuple[Seen, ...] = ()
    status: AnswerStatus = "complete"


@dataclass(frozen=True, slots=True)
class Action:
    """What a searcher does next. `node` is an id for DRILL and EXPAND, `text` the answer of
    ANSWER; for `invalid`, text says what was wrong."""

    kind: Literal["DRILL", "EXPAND", "ANSWER", "invalid"]
    node: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """What a searcher sees in a round: the root, the nodes at hand by id, the one action that
    each allows (DRILL or EXPAND), which are open already, the pictures of expanded ones, and what
    was wrong with its last action. Without actions it has to answer."""

    root: Sequence[Seen]
    nodes: Sequence[tuple[str, Seen]]
    actions: Mapping[str, str]
    opened: frozenset[str] = frozenset()
    details: Sequence[Seen] = ()
    problem: str = ""
    rounds_left: int = 0


class Reasoner(Protocol):
    """`name` goes into the answer; `note` is said with it; `sees` says whether pictures
    without a caption are of use to it."""

    name: ClassVar[str]
    note: ClassVar[str]

    @property
    def sees(self) -> bool: ...

    def relevance(self, seen: Sequence[Seen]) -> list[int]:
        """1 (not relevant), 2 or 3 (highly relevant to the question) for each thing seen."""
        ...

    def act(self, view: View) -> Action:
        """The searcher's next action."""
        ...

    def conclude(self, seen: Sequence[Seen], pictures: Sequence[Picture] = ()) -> Conclusion:
        """The answer, from what was read (in the order given) and from pictures."""
        ...
