"""How `select_frames` chooses: one function a method, of relevance and vectors.

A method gets the relevance of T pictures in time order (shape (T,), NaN where a picture has no
vector), a way to their vectors (shape (T, d)) and k; it gives at most k numbers of pictures in
the order of choice. A new method is one entry of `METHODS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Relevance = NDArray[np.float64]
Vectors = Callable[[], NDArray[np.float32]]
Choose = Callable[[Relevance, Vectors, int], Ints]


@dataclass(frozen=True, slots=True)
class Method:
    """`by_relevance`: only pictures with a vector can be chosen."""

    choose: Choose
    by_relevance: bool = True


def uniform(relevance: Relevance, vectors: Vectors, k: int) -> Ints:
    """Evenly over time, the first one first."""
    from reeldb.query.operators.grid import spread

    return np.array(spread(len(relevance), k), np.int64)


def topk(relevance: Relevance, vectors: Vectors, k: int) -> Ints:
    """The most relevant, the best one first; of equals the earlier one."""
    return np.argsort(-relevance, kind="stable")[:k].astype(np.int64)


def dpp(relevance: Relevance, vectors: Vectors, k: int) -> Ints:
    """Relevant and unlike one another, as the strategy `dpp` chooses by the question alone."""
    from reeldb.query.strategies.diverse import greedy_dpp
    from reeldb.query.strategies.fusion import standardised

    return greedy_dpp(vectors(), standardised(relevance[None])[0], k).order


METHODS: dict[str, Method] = {
    "uniform": Method(uniform, by_relevance=False),
    "topk": Method(topk),
    "dpp": Method(dpp),
}
DEFAULT_METHOD, DEFAULT_K, MOST_K = "dpp", 32, 4096


@dataclass(frozen=True, slots=True)
class FrameChoice:
    """One `select_frames(...)` of a statement, its arguments known."""

    question: str
    k: int = DEFAULT_K
    method: str = DEFAULT_METHOD
    video_id: str | None = None
    video: str = ""

    def __str__(self) -> str:
        question = self.question if len(self.question) <= 40 else self.question[:37] + "..."
        where = f" in {self.video}" if self.video else ""
        return f"{self.method}, {self.k} by '{question}'{where}"


def chosen(
    choice: FrameChoice, relevance: Relevance, vectors: Callable[[Ints], NDArray[np.float32]]
) -> Ints:
    """Numbers of pictures in the order of choice. `vectors` gives those of numbered pictures."""
    method = METHODS[choice.method]
    able = np.arange(len(relevance), dtype=np.int64)
    if method.by_relevance:
        able = able[np.isfinite(relevance)]
    if not len(able):
        return able
    return able[method.choose(relevance[able], lambda: vectors(able), min(choice.k, len(able)))]
