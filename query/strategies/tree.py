"""`tree`: VideoTree, a tree of visual clusters that grows where the question is.

Wang et al., VideoTree, Algorithm 1 and sections 3.1 to 3.3. Breadth: cluster the pictures,
caption the picture nearest each centroid, score the clusters, and double their number until
enough are highly relevant. Depth: the more relevant a cluster, the deeper it is clustered
again. The captions of all keyframes, in temporal order, are what the answer is made from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from reeldb.query.operators.captions import Stretch
from reeldb.query.prompts import FRAME, Prompt
from reeldb.query.strategies.cluster import hierarchical, kmeans, nearest
from reeldb.query.strategies.options import count, one_of, positive
from reeldb.query.strategies.plan import Line, Shape
from reeldb.query.strategies.verdict import Verdict, insufficient, verdict

if TYPE_CHECKING:
    from reeldb.query.operators.grid import Grid
    from reeldb.query.reasoners import Reasoner
    from reeldb.query.task import Seen, Task
    from reeldb.schema.models import Vectors

SOMEWHAT, HIGHLY = 2, 3
CLIP_PICTURES = 4  # of a keyframe's clip
MOST_HIERARCHICAL = 4_000  # members; the time and memory of the agglomerative tree are quadratic
Ints = NDArray[np.int64]


@dataclass(slots=True)
class Cluster:
    """Places in the grid that look alike, the one that stands for them, and what is below."""

    members: Ints
    keyframe: int
    relevance: int = 1
    children: list[Cluster] = field(default_factory=list)

    def walk(self) -> Iterator[Cluster]:
        """Top-down, left to right."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Tree:
    """The paper's parameters under its names, and its ablations.

    `short` takes its settings for videos of less than a minute (k 4, breadth 8, width 2,
    threshold 3). `clip_seconds` captions a short clip round a keyframe instead of the picture.
    `videos` bounds how many videos are looked at: of more, the likeliest.
    """

    k: int = 8
    max_breadth: int = 32
    threshold: int = 4
    branch_width: int = 4
    depth: int = 3
    short: bool = False
    fps: float | None = None
    clip_seconds: float = 0.0
    adaptive: bool = True
    order: str = "temporal"
    captioner_sees_question: bool = False
    videos: int = 4
    seed: int = 0

    name: ClassVar[str] = "tree"
    aliases: ClassVar[dict[str, str]] = {"max_depth": "depth"}

    def __post_init__(self) -> None:
        if self.short:
            for name, value in (("k", 4), ("max_breadth", 8), ("branch_width", 2),
                                ("threshold", 3)):  # fmt: skip
                object.__setattr__(self, name, value)
        count("tree", "k", self.k, 1, 256)
        count("tree", "max_breadth", self.max_breadth, self.k, 1024)
        count("tree", "threshold", self.threshold, 1, 1024)
        count("tree", "branch_width", self.branch_width, 1, 64)
        count("tree", "depth", self.depth, 1, 3)
        count("tree", "videos", self.videos, 1, 1000)
        count("tree", "seed", self.seed, 0, 2**31)
        positive("tree", "fps", self.fps)
        one_of("tree", "order", self.order, ("temporal", "tree"))

    # What it may cost

    def plan(self, shape: Shape) -> list[Line]:
        n, w = shape.thinned(self.fps).pictures, self.branch_width
        rounds = self._breadths(n)
        below = rounds[-1] * (0, w, w + w * w)[self.depth - 1] if rounds else 0
        kind = "node" if self.clip_seconds else "frame"
        return [
            Line("cluster", about=f"{n:,} pictures into {', '.join(map(str, rounds))}"),
            Line("caption", min(sum(rounds), n), kind=kind, about="keyframes of clusters"),
            Line("score", calls=len(rounds) * shape.chat, about="each round's clusters"),
            Line("caption", max(0, min(below, n - min(sum(rounds), n))), kind=kind,
                 about="keyframes below relevant clusters"),
            Line("answer", calls=int(shape.chat), about="from all captions"),
        ]  # fmt: skip

    def _breadths(self, pictures: int) -> list[int]:
        """How many clusters there are in each round, if every round is needed."""
        if not pictures:
            return []
        if not self.adaptive:
            return [min(self.max_breadth, pictures)]
        out, k = [], self.k
        while k <= self.max_breadth:
            out.append(min(k, pictures))
            if k >= pictures:
                break
            k *= 2
        return out

    # The algorithm

    def answer(self, task: Task, reasoner: Reasoner) -> Verdict:
        grid = task.narrow(self.videos, self.fps)
        vectors = task.vectors(grid)
        there = np.flatnonzero(np.isfinite(vectors).all(axis=1))
        if not len(there):
            return insufficient(task, "no picture in the scope has a vector")
        tree = self._breadth(task, reasoner, grid, vectors, there)
        if self.depth > 1:
            for cluster in tree:
                self._deepen(cluster, vectors)
        clusters = _distinct([c for top in tree for c in top.walk()])
        if self.order == "temporal":
            clusters.sort(key=lambda c: c.keyframe)
        seen = self._caption(task, grid, clusters)
        return verdict(task, reasoner.conclude(seen))

    def _breadth(
        self, task: Task, reasoner: Reasoner, grid: Grid, vectors: Vectors, there: Ints
    ) -> list[Cluster]:
        """Adaptive breadth expansion: the first level."""
        clusters: list[Cluster] = []
        for k in self._breadths(len(there)):
            clusters = _clusters(vectors, there, kmeans(vectors[there], k, self.seed))
            scores = reasoner.relevance(self._caption(task, grid, clusters))
            for cluster, score in zip(clusters, scores, strict=True):
                cluster.relevance = score
            if scores.count(HIGHLY) >= self.threshold:
                break
        return clusters

    def _deepen(self, cluster: Cluster, vectors: Vectors) -> None:
        """Relevance-guided depth expansion: one level below somewhat relevant clusters, two
        below highly relevant ones."""
        w, members = self.branch_width, cluster.members
        if len(members) < 2 or cluster.relevance < SOMEWHAT:
            return
        if cluster.relevance == SOMEWHAT or self.depth == 2:
            labels = kmeans(vectors[members], min(w, len(members)), self.seed)
            cluster.children = _clusters(vectors, members, labels)
            return
        cluster.children = _hierarchy(vectors, members, w, self.seed)
        for child in cluster.children:
            if len(child.members) > 1:
                child.children = _hierarchy(vectors, child.members, w, self.seed)

    def _caption(self, task: Task, grid: Grid, clusters: Sequence[Cluster]) -> list[Seen]:
        pictures = [grid[c.keyframe] for c in clusters]
        if self.clip_seconds:
            return task.describe([_clip(grid, c.keyframe, self.clip_seconds) for c in clusters])
        return task.look(pictures, _asking(task) if self.captioner_sees_question else FRAME)


def _hierarchy(vectors: Vectors, members: Ints, width: int, seed: int) -> list[Cluster]:
    """One level of the two below a highly relevant cluster; k-means where it is very large."""
    mine, k = vectors[members], min(width, len(members))
    large = len(members) > MOST_HIERARCHICAL
    labels = kmeans(mine, k, seed) if large else hierarchical(mine, k)
    return _clusters(vectors, members, labels)


def _clusters(vectors: Vectors, members: Ints, labels: NDArray[np.int64]) -> list[Cluster]:
    """The clusters in temporal order of their keyframes."""
    centres = nearest(vectors[members], labels)
    found = [
        Cluster(members[labels == label], int(members[centres[i]]))
        for i, label in enumerate(np.unique(labels))
    ]
    return sorted(found, key=lambda c: c.keyframe)


def _distinct(clusters: Sequence[Cluster]) -> list[Cluster]:
    """One cluster a keyframe, the first of each."""
    return list({c.keyframe: c for c in reversed(clusters)}.values())[::-1]


def _clip(grid: Grid, keyframe: int, seconds: float) -> Stretch:
    """The pictures of the keyframe's video within half the time to either side of it."""
    t_s, rank = grid.t_s[keyframe], grid.rank[keyframe]
    near = np.flatnonzero((grid.rank == rank) & (np.abs(grid.t_s - t_s) <= seconds / 2))
    pictures = grid.take(near).spread(CLIP_PICTURES)
    last = grid[int(near[-1])]
    end_s = min(last.t_s + grid.step_s, max(last.scene_end_s, last.t_s + 0.001))
    return Stretch(tuple(pictures), float(grid.t_s[near[0]]), end_s)


def _asking(task: Task) -> Prompt:
    """The ablation: the captioner knows the question, so its captions are of no other use."""
    text = f"{FRAME.text} Mind what would help to answer this question: {task.question}"
    return Prompt("frame-asked", 1, text)
