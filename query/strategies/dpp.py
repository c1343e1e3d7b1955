"""`dpp`: RACER, sub-queries written by a model and pictures chosen by a tool.

Huang et al., RACER, section 3.2. An interpreter looks at an overview and rewrites the question
as visually grounded sub-queries; similarity scores every picture; entropy weighs the sub-queries;
a determinantal point process chooses relevant, unlike pictures; the chosen ones go back to the
interpreter for better sub-queries. The interpreter never scores, picks or names times. Where the
paper's summary gives no formula, `fusion` and `diverse` say what was chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reeldb.query.strategies.diverse import greedy_dpp
from reeldb.query.strategies.fusion import TEMPERATURE, fused
from reeldb.query.strategies.interpret import interpreter_for
from reeldb.query.strategies.options import count, one_of, positive, within
from reeldb.query.strategies.overview import PRUNINGS, pruned
from reeldb.query.strategies.plan import Line, Shape
from reeldb.query.strategies.verdict import Verdict, insufficient, verdict

if TYPE_CHECKING:
    from reeldb.query.operators.grid import Grid, Picture
    from reeldb.query.reasoners import Reasoner
    from reeldb.query.task import Task
    from reeldb.schema.models import Vectors


@dataclass(frozen=True, slots=True)
class Dpp:
    """The paper's parameters: `n` pictures, `reflections` rounds after the first retrieval,
    `beta` for the sharpness of entropy weights, `question_weight` (w0), `alpha` for relevance
    against diversity, `interpreter_temperature` (tau). Ours: `queries` sub-queries, score
    `temperature`, and what a reflection shows: `feedback` chosen pictures and `overview` ones
    kept by `pruning` (visual, temporal; uniform: the overview alone). `weighting => 'uniform'`
    and `interpret => false` are the paper's ablations D.1 and Table 4.

    `videos` bounds how many videos are looked at: of more, the likeliest.
    """

    n: int = 32
    reflections: int = 2
    queries: int = 4
    alpha: float = 0.75
    beta: float = 2.2
    question_weight: float = 0.6
    temperature: float = TEMPERATURE
    interpreter_temperature: float = 0.8
    feedback: int = 16
    overview: int = 16
    pruning: str = "visual"
    weighting: str = "entropy"
    interpret: bool = True
    fps: float | None = None
    videos: int = 4

    name: ClassVar[str] = "dpp"
    aliases: ClassVar[dict[str, str]] = {"w0": "question_weight", "k": "n"}

    def __post_init__(self) -> None:
        count("dpp", "n", self.n, 1, 256)
        count("dpp", "reflections", self.reflections, 0, 16)
        count("dpp", "queries", self.queries, 1, 16)
        count("dpp", "feedback", self.feedback, 0, 256)
        count("dpp", "overview", self.overview, 0, 256)
        count("dpp", "videos", self.videos, 1, 1000)
        within("dpp", "alpha", self.alpha, below=True)
        within("dpp", "question_weight", self.question_weight)
        positive("dpp", "temperature", self.temperature)
        within("dpp", "interpreter_temperature", self.interpreter_temperature, 2)
        positive("dpp", "fps", self.fps)
        positive("dpp", "beta", self.beta)
        one_of("dpp", "pruning", self.pruning, PRUNINGS)
        one_of("dpp", "weighting", self.weighting, ("entropy", "uniform"))

    # What it may cost

    def plan(self, shape: Shape) -> list[Line]:
        pictures = shape.thinned(self.fps).pictures
        n = min(self.n, pictures)
        asks = shape.chat and self.interpret
        lines = [
            Line("interpret", calls=int(asks), about=f"{n} pictures to {self.queries} sub-queries"),
            Line("select", about=f"{n} of {pictures:,} pictures"),
        ]
        if self.reflections and asks:
            rounds = self.reflections
            lines.append(Line("reflect", calls=rounds, about=f"{rounds} times, and select again"))
        return [
            *lines,
            Line("caption", captions=0 if shape.sees else n),
            Line("answer", calls=int(shape.chat), about=f"{n} pictures" if shape.sees else ""),
        ]

    # The algorithm

    def answer(self, task: Task, reasoner: Reasoner) -> Verdict:
        chosen = self.select(task, reasoner)
        if not chosen:
            return insufficient(task, "no picture in the scope has a vector")
        chosen = sorted(chosen, key=lambda p: (p.rank, p.t_s))
        seen = task.show(chosen) if reasoner.sees else task.look(chosen)
        return verdict(task, reasoner.conclude(seen, chosen))

    def select(self, task: Task, reasoner: Reasoner) -> list[Picture]:
        """At most n pictures, in the order in which they were chosen."""
        grid, vectors = self._candidates(task)
        if not len(grid):
            return []
        interpreter = interpreter_for(
            task, reasoner, self.queries, self.interpret, self.interpreter_temperature
        )
        overview = task.uniform(self.n, grid)
        queries = interpreter.queries(overview, ())
        chosen = self._retrieve(task, grid, vectors, queries)
        for _ in range(self.reflections if interpreter.learns else 0):
            shown = self._reflected(task, overview, [grid[i] for i in chosen])
            better = interpreter.queries(shown, queries)
            if list(better) != list(queries):
                queries = better
                chosen = self._retrieve(task, grid, vectors, queries)
        return [grid[i] for i in chosen]

    def _candidates(self, task: Task) -> tuple[Grid, Vectors]:
        """The pictures that have a vector, and their vectors."""
        grid = task.narrow(self.videos, self.fps)
        if not len(grid):
            return grid, np.zeros((0, 1), np.float32)
        vectors = task.vectors(grid)
        there = np.isfinite(vectors).all(axis=1)
        return (
            (grid, vectors) if there.all() else (grid.take(np.flatnonzero(there)), vectors[there])
        )

    def _retrieve(
        self, task: Task, grid: Grid, vectors: Vectors, queries: Sequence[str]
    ) -> list[int]:
        """Places in the grid, best first: scores, fusion and the choice of unlike pictures."""
        cosines = task.cosines([task.question, *queries], grid)
        with task.trace.step("select", {"queries": list(queries), "n": self.n}) as cost:
            relevance, weights = fused(
                cosines,
                question_weight=self.question_weight,
                beta=self.beta,
                temperature=self.temperature,
                by_entropy=self.weighting == "entropy",
            )
            chosen = greedy_dpp(vectors, relevance, self.n, alpha=self.alpha)
            cost.outputs = {
                "weights": [round(float(w), 4) for w in weights],
                "at": [[grid[int(i)].video, grid[int(i)].t_s] for i in chosen.order],
                "filled up": len(chosen.order) - chosen.diverse,
            }
        return [int(i) for i in chosen.order]

    def _reflected(
        self, task: Task, overview: Sequence[Picture], chosen: Sequence[Picture]
    ) -> list[Picture]:
        """What the interpreter sees in a reflection, in time order."""
        with task.trace.step("reflect", {"pruning": self.pruning}) as cost:
            if self.pruning == "uniform":
                shown = list(overview)
            else:
                kept = list(chosen[: self.feedback])
                rest = [p for p in overview if p.row not in {k.row for k in kept}]
                shown = kept + pruned(task, rest, kept, self.overview, self.pruning)
            shown.sort(key=lambda p: (p.rank, p.t_s))
            cost.outputs = {"pictures": len(shown), "at": [[p.video, p.t_s] for p in shown]}
        return shown
