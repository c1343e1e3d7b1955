"""`topk`: CLIP selection, the baseline that looks at the pictures most like the question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from reeldb.query.strategies.options import count
from reeldb.query.strategies.plan import Line, Shape
from reeldb.query.strategies.verdict import Verdict, insufficient, verdict

if TYPE_CHECKING:
    from reeldb.query.reasoners import Reasoner
    from reeldb.query.task import Task


@dataclass(frozen=True, slots=True)
class TopK:
    """The `k` pictures most similar to the question are captioned and judged together."""

    k: int = 8

    name: ClassVar[str] = "topk"

    def __post_init__(self) -> None:
        count("topk", "k", self.k, 1, 256)

    def plan(self, shape: Shape) -> list[Line]:
        k = min(self.k, shape.pictures)
        return [
            Line("search", about=f"the {k} pictures most similar to the question"),
            Line("caption", captions=k),
            Line("answer", calls=int(shape.chat), about="from captions and pictures"),
        ]

    def answer(self, task: Task, reasoner: Reasoner) -> Verdict:
        pictures = task.search(task.question, self.k)
        if not pictures:
            return insufficient(task, "no picture in the scope has a vector")
        seen = task.look(pictures)
        return verdict(task, reasoner.conclude(seen, pictures))
