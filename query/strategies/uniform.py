"""`uniform`: direct inference, the baseline that looks at pictures spread evenly."""

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
class Uniform:
    """`n` pictures spread evenly over the scope are shown in one answer call.

    A reasoner that takes no pictures gets their captions instead.
    """

    n: int = 64

    name: ClassVar[str] = "uniform"

    def __post_init__(self) -> None:
        count("uniform", "n", self.n, 1, 1024)

    def plan(self, shape: Shape) -> list[Line]:
        n = min(self.n, shape.pictures)
        return [
            Line("uniform", about=f"{n} pictures"),
            Line("caption", captions=0 if shape.sees else n),
            Line("answer", calls=int(shape.chat), about=f"{n} pictures" if shape.sees else ""),
        ]

    def answer(self, task: Task, reasoner: Reasoner) -> Verdict:
        pictures = task.uniform(self.n)
        if not pictures:
            return insufficient(task, "no picture lies in the scope")
        seen = task.show(pictures) if reasoner.sees else task.look(pictures)
        return verdict(task, reasoner.conclude(seen, pictures))
