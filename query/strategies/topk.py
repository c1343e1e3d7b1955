"""`topk`: CLIP selection, the baseline that looks at the pictures most like the question."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reeldb.query.reasoners.embedding import EmbeddingReasoner
from reeldb.query.strategies.verdict import Verdict, insufficient
from reeldb.schema.errors import BindError

if TYPE_CHECKING:
    from reeldb.query.task import Task

EVIDENCE = 5  # spans that an answer cites at most


@dataclass(frozen=True, slots=True)
class TopK:
    """The `k` pictures most similar to the question are captioned and judged together.

    Worst case: k captions. Raises BindError unless 1 <= k <= 256.
    """

    k: int = 8

    name: ClassVar[str] = "topk"

    def __post_init__(self) -> None:
        if not isinstance(self.k, int) or not 1 <= self.k <= 256:
            raise BindError(f"topk(k => {self.k}): k is a whole number from 1 to 256")

    def answer(self, task: Task) -> Verdict:
        reasoner = EmbeddingReasoner(task)
        pictures = task.search(task.question, self.k)
        if not pictures:
            return insufficient(task, reasoner.name, "no picture in the scope has a vector")
        seen = task.look(pictures)
        if task.choices:
            winner, belief, support = reasoner.choose(task.choices, seen)
            choice = task.choices[winner]
            text, confidence = choice.text, belief
        else:
            choice = None
            support = reasoner.relevance([task.question], seen)[0]
            best = seen[int(np.argmax(support))]
            text = best.words.replace("\n", "; ") or "see the evidence; nothing could be read there"
            confidence = float(np.clip(support.max(), 0, 1))
        order = np.argsort(-support, kind="stable")
        evidence = task.evidence([seen[i] for i in order])[:EVIDENCE]
        return Verdict(text, choice, confidence, evidence, reasoner.name, options=asdict(self))
