"""The reasoner that asks chat and vision models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reeldb.query.operators.replies import UNPAID, UNPARSED, Heard, Request
from reeldb.query.prompts.asking import (
    ANSWER,
    ANSWER_FORM,
    OPEN_FORM,
    RELEVANCE,
    RELEVANCE_FORM,
    SEARCH,
    SEARCH_FORM,
    asked,
    listed,
    quoted,
)
from reeldb.query.reasoners.embedding import EmbeddingReasoner
from reeldb.query.reasoners.forms import Answered, action_form, answer_form, relevance_form
from reeldb.query.reasoners.protocol import Action, Conclusion, View

if TYPE_CHECKING:
    from reeldb.query.task import Picture, Seen, Task


class ChatReasoner:
    """Judges by prompts: the judge scores, the searcher searches, the reasoner answers."""

    name: ClassVar[str] = "chat"
    note: ClassVar[str] = ""

    def __init__(self, task: Task) -> None:
        self._task = task

    @property
    def sees(self) -> bool:
        return self._task.cast.sees("reasoner")

    def relevance(self, seen: Sequence[Seen]) -> list[int]:
        """One call scores all. A thing without a score counts as not relevant, and is reported."""
        if not seen:
            return []
        text = "\n".join(
            [
                RELEVANCE.text,
                quoted("descriptions", listed(seen)),
                asked(self._task.question, self._task.choices),
                RELEVANCE_FORM,
            ]
        )
        [heard] = self._task.ask("judge", [Request(text)], relevance_form(len(seen)))
        scores = heard.value or {}
        missing = [i for i in range(1, len(seen) + 1) if i not in scores]
        if missing:
            self._task.note(
                f"{len(missing)} of {len(seen)} things seen got no score and count as not relevant"
            )
        return [scores.get(i, 1) for i in range(1, len(seen) + 1)]

    def act(self, view: View) -> Action:
        """The searcher's reply, text only, is one action."""
        text = "\n".join(
            [
                SEARCH.text,
                *_transcript(view),
                asked(self._task.question, self._task.choices),
                "Menu:",
                *(_item(action, node, view) for node, action in view.actions.items()),
                "ANSWER",
                f"Rounds left: {view.rounds_left}.",
                SEARCH_FORM,
                *(["Your last reply was no use.", quoted("why", view.problem)] if view.problem
                  else []),
            ]
        )  # fmt: skip
        [heard] = self._task.ask("searcher", [Request(text)], action_form())
        if heard.value is None:
            return Action("ANSWER" if heard.status == UNPAID else "invalid", text="")
        return heard.value

    def conclude(self, seen: Sequence[Seen], pictures: Sequence[Picture] = ()) -> Conclusion:
        """The reasoner's answer. What it cites wrongly is dropped and told; where it cites
        nothing, what was seen is ordered by similarity to the answer."""
        self._task.release()
        shown = list(pictures) if self.sees else []
        things = [*seen, *_as_seen(shown, seen)]
        if not things:
            return Conclusion("", None, None, status="insufficient")
        choices = self._task.choices
        text = "\n".join(
            [
                ANSWER.text,
                quoted("seen", listed(things)),
                asked(self._task.question, choices),
                ANSWER_FORM if choices else OPEN_FORM,
            ]
        )
        form = answer_form(choices, len(things))
        [heard] = self._task.ask("reasoner", [Request(text, tuple(shown))], form)
        return self._concluded(heard, things)

    def _concluded(self, heard: Heard[Answered], things: Sequence[Seen]) -> Conclusion:
        said = heard.value
        if said is None:
            status = {UNPARSED: UNPARSED, UNPAID: "partial"}.get(heard.status, "failed")
            return Conclusion("", None, None, status=status)  # type: ignore[arg-type]
        if said.strange:
            self._task.note(f"the answer cites things that were not shown: {said.strange[0]!r}")
        if said.insufficient:
            return Conclusion("", None, said.confidence, status="insufficient")
        cites = [things[i - 1] for i in said.cites] or self._likeliest(said.answer, things)
        return Conclusion(said.answer, said.choice, said.confidence, tuple(cites))

    def _likeliest(self, answer: str, things: Sequence[Seen]) -> list[Seen]:
        """All things, those most similar to the question and its answer first."""
        self._task.note("the model cites nothing: the evidence is what is most similar of it all")
        wanted = f"{self._task.question} {answer}"
        scores = EmbeddingReasoner(self._task).cosines([wanted], things)[0]
        return [things[i] for i in np.argsort(-scores, kind="stable")]


def _as_seen(pictures: Sequence[Picture], seen: Sequence[Seen]) -> list[Seen]:
    """The pictures that are not among the things seen, as things without a description."""
    from reeldb.query.task import Seen

    known = {s.picture.row for s in seen if len(s.pictures) == 1}
    return [Seen((p,), p.t_s, p.t_s, None, None, "shown") for p in pictures if p.row not in known]


def _item(action: str, node: str, view: View) -> str:
    return f"{action} {node}" + (" (open already)" if node in view.opened else "")


def _transcript(view: View) -> list[str]:
    parts = [quoted("whole", listed(view.root))] if view.root else []
    nodes = "\n".join(f"{node} {listed([s])[4:]}" for node, s in view.nodes)
    parts.append(quoted("stretches", nodes))
    if view.details:
        parts.append(quoted("pictures", listed(view.details)))
    return parts
