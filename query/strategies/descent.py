"""`descent`: LazySloth, a top-down search that captions only where it goes.

Mukherjee et al., LazySloth, Algorithm 1 and section 3. The scope is a tree of contiguous spans,
never built as a whole: the root and its children are captioned, a searcher that sees text only
opens one node a round, and a reasoner answers from all captions on the way and from pictures of
the span that the search narrowed to. Captions are bounded by the depth of the search, not by
the length of the video: 1 + k ceil(log_k(N / leaf)) + leaf without backtracking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from reeldb.query.reasoners import Action, Conclusion, View
from reeldb.query.reasoners.choice import read_choice
from reeldb.query.reasoners.embedding import EmbeddingReasoner
from reeldb.query.strategies.nodes import Node, every, levels, roots
from reeldb.query.strategies.options import count, one_of, positive
from reeldb.query.strategies.plan import Line, Shape
from reeldb.query.strategies.verdict import Verdict, insufficient, verdict

if TYPE_CHECKING:
    from reeldb.query.operators.grid import Grid
    from reeldb.query.reasoners import Reasoner
    from reeldb.query.task import Seen, Task


@dataclass(frozen=True, slots=True)
class Descent:
    """The paper's parameters and ablations.

    `scorer => 'embedding'` searches greedily by similarity instead of asking the searcher;
    `build => 'eager'` captions the whole tree first; `reasoner => false` lets the searcher's own
    answer stand. `videos` bounds how many videos are searched: of more, the likeliest.
    """

    branch: int = 4
    leaf: int = 16
    node_pictures: int = 8
    answer_pictures: int = 16
    rounds: int = 12
    patience: int = 3
    reasoner: bool = True
    scorer: str = "model"
    build: str = "lazy"
    fps: float | None = None
    videos: int = 4

    name: ClassVar[str] = "descent"

    def __post_init__(self) -> None:
        count("descent", "branch", self.branch, 2, 32)
        count("descent", "leaf", self.leaf, 1, 256)
        count("descent", "node_pictures", self.node_pictures, 1, 64)
        count("descent", "answer_pictures", self.answer_pictures, 1, 256)
        count("descent", "rounds", self.rounds, 1, 1000)
        count("descent", "patience", self.patience, 1, 1000)
        count("descent", "videos", self.videos, 1, 1000)
        one_of("descent", "scorer", self.scorer, ("model", "embedding"))
        one_of("descent", "build", self.build, ("lazy", "eager"))
        positive("descent", "fps", self.fps)

    # What it may cost

    def plan(self, shape: Shape) -> list[Line]:
        shape = shape.thinned(self.fps)
        n, tops = shape.pictures, min(shape.videos, self.videos)
        nodes = len(every(Node(0, 0, n), self.branch, self.leaf)) + tops if n else 0
        depth = levels(n, self.branch, self.leaf)
        straight = tops + self.branch * depth + self.leaf
        opened = min(nodes, tops + self.branch + self.rounds * self.branch)
        leaves = min(n, self.rounds * self.leaf)
        most = tops + self.branch + self.rounds * max(self.branch, self.leaf)
        if self.build == "eager":
            opened, leaves, most = nodes, n, nodes + n
        searched = self.rounds + 1 if shape.chat and self.scorer == "model" else 0
        straight, most = min(straight, opened + leaves), min(most, opened + leaves)
        return [
            Line("caption", most, kind="node",
                 about=f"nodes, and pictures of leaves; {straight} without backtracking"),
            Line("search", calls=searched, about=f"at most {self.rounds} rounds"),
            Line("answer", calls=int(shape.chat and self.reasoner),
                 about=f"from captions and {self.answer_pictures} pictures"),
        ]  # fmt: skip

    # The algorithm

    def answer(self, task: Task, reasoner: Reasoner) -> Verdict:
        grid = task.narrow(self.videos, self.fps)
        if not len(grid):
            return insufficient(task, "no picture lies in the scope")
        if self.build == "eager":
            self._build(task, grid)
        search = Search(self, task, grid)
        searcher = EmbeddingReasoner(task) if self.scorer == "embedding" else reasoner
        provisional = search.run(searcher)
        pictures = list(grid[search.at.start : search.at.stop].spread(self.answer_pictures))
        if not self.reasoner:
            return verdict(task, search.own(provisional))
        conclusion = reasoner.conclude(search.evidence, pictures)
        if conclusion.status == "insufficient" and provisional:
            task.note("the reasoner found it insufficient: the searcher's own answer stands")
            conclusion = search.own(provisional)
        return verdict(task, conclusion)

    def _build(self, task: Task, grid: Grid) -> None:
        """The ablation: the whole tree, with every picture, before the first question."""
        nodes = [n for root in roots(grid) for n in every(root, self.branch, self.leaf)]
        task.look(grid)
        task.describe([n.stretch(grid, self.node_pictures) for n in nodes])


class Search:
    """The state of one search: the frontier, the one before it, and the evidence so far.

    `at` is the node that the search has narrowed to.
    """

    def __init__(self, options: Descent, task: Task, grid: Grid) -> None:
        self.options, self.task, self.grid = options, task, grid
        self.seen: dict[Node, Seen] = {}
        self.details: list[Seen] = []
        self.opened: list[Node] = []
        self.before: list[Node] = []
        tops = roots(grid)
        self.root = tops[0] if len(tops) == 1 else Node(0, 0, len(grid))
        self.at = self.root
        self._caption(tops)
        if len(tops) > 1:
            self.frontier = tops
        elif len(self.root) > options.leaf:
            self.frontier = self.root.split(options.branch)
            self._caption(self.frontier)
        else:
            self.frontier = tops

    @property
    def evidence(self) -> list[Seen]:
        """All captions on the way: from the root down, then single pictures."""
        return [*self.seen.values(), *self.details]

    def run(self, searcher: Reasoner) -> str:
        """Searches until there is an answer, no round left, or no progress; gives the
        searcher's own answer, '' where it has none."""
        idle, problem = 0, ""
        for left in range(self.options.rounds, 0, -1):
            action = searcher.act(self._view(self._menu(), problem, left))
            if action.kind == "ANSWER":
                return action.text
            problem = self._wrong(action)
            progress = not problem and self._go(action)
            idle = 0 if progress else idle + 1
            if idle >= self.options.patience:
                self.task.note(f"{idle} rounds without progress: an answer was forced")
                break
        else:
            self.task.note(f"{self.options.rounds} rounds are used up: an answer was forced")
        return searcher.act(self._view({}, problem, 0)).text

    def own(self, provisional: str) -> Conclusion:
        """The searcher's own answer. Its evidence is where the search was when it gave it."""
        near = [
            s for n, s in self.seen.items() if n.start >= self.at.start and n.stop <= self.at.stop
        ]
        cites = tuple(self.details[::-1] or near[::-1])
        if not self.task.choices:
            status = "complete" if provisional else "insufficient"
            return Conclusion(provisional, None, None, cites, status)  # type: ignore[arg-type]
        choice = read_choice(provisional, self.task.choices)
        if choice is None:
            return Conclusion("", None, None, status="unparsed" if provisional else "insufficient")
        return Conclusion(choice.text, choice, None, cites)

    # A round

    def _menu(self) -> dict[str, str]:
        """What may be done to each node of this frontier and of the one before, by id."""
        nodes = [*self.before, *self.frontier]
        return {n.id: "DRILL" if len(n) > self.options.leaf else "EXPAND" for n in nodes}

    def _view(self, menu: dict[str, str], problem: str, left: int) -> View:
        nodes = [(n.id, self.seen[n]) for n in [*self.before, *self.frontier] if n in self.seen]
        root = [self.seen[self.root]] if self.root in self.seen else []
        opened = frozenset(n.id for n in self.opened)
        return View(root, nodes, menu, opened, tuple(self.details), problem, left)

    def _wrong(self, action: Action) -> str:
        """What is wrong with an action, '' where nothing is."""
        if action.kind == "invalid":
            return action.text or "it could not be read"
        can = self._menu().get(action.node)
        if can is None:
            return f"{action.node} is not in the menu"
        if can != action.kind:
            return f"{action.node} can be opened by {can} only"
        return ""

    def _go(self, action: Action) -> bool:
        """Opens a node; gives whether it was closed before."""
        node = next(n for n in [*self.frontier, *self.before] if n.id == action.node)
        is_new = node not in self.opened
        self.opened.append(node)
        self.at = node
        if action.kind == "EXPAND":
            if is_new:
                self.details += self.task.look(self.grid[node.start : node.stop])
            return is_new
        if node in self.frontier:
            self.before = self.frontier
        self.frontier = node.split(self.options.branch)
        self._caption(self.frontier)
        return is_new

    def _caption(self, nodes: Sequence[Node]) -> None:
        new = [n for n in nodes if n not in self.seen]
        pictures = self.options.node_pictures
        found = self.task.describe([n.stretch(self.grid, pictures) for n in new])
        self.seen |= dict(zip(new, found, strict=True))
