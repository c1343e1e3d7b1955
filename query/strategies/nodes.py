"""Nodes: contiguous spans of a grid, split level by level, as a top-down tree has them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from reeldb.query.operators.captions import Stretch

if TYPE_CHECKING:
    from reeldb.query.operators.grid import Grid


@dataclass(frozen=True, slots=True)
class Node:
    """The pictures `[start, stop)` of a grid. Ids and spans depend on the grid alone, so that
    every question about it comes by the same captions."""

    level: int
    start: int
    stop: int

    @property
    def id(self) -> str:
        return f"{self.level}:{self.start}"

    def __len__(self) -> int:
        return self.stop - self.start

    def split(self, parts: int) -> list[Node]:
        """At most `parts` children of nearly equal length, in order.

        >>> [(n.id, len(n)) for n in Node(0, 0, 10).split(4)]
        [('1:0', 2), ('1:2', 3), ('1:5', 2), ('1:7', 3)]
        """
        parts = min(parts, len(self))
        cuts = [self.start + i * len(self) // parts for i in range(parts + 1)]
        return [Node(self.level + 1, a, b) for a, b in pairwise(cuts)]

    def stretch(self, grid: Grid, pictures: int) -> Stretch:
        """The node's span and at most so many pictures, evenly spread over it."""
        mine = grid[self.start : self.stop]
        last = mine[len(mine) - 1]
        end_s = min(last.t_s + grid.step_s, max(last.scene_end_s, last.t_s + 0.001))
        return Stretch(tuple(mine.spread(pictures)), float(mine.t_s[0]), end_s)


def roots(grid: Grid) -> list[Node]:
    """One node for the whole grid, or, where it is of several videos, one for each."""
    parts = grid.videos()
    level = int(len(parts) > 1)
    return [Node(level, first, last) for first, last in parts]


def levels(pictures: int, parts: int, leaf: int) -> int:
    """How often a span of so many pictures is split until each part has at most `leaf`.

    >>> levels(8400, 4, 16), levels(16, 4, 16)
    (5, 0)
    """
    n = 0
    while pictures > leaf:
        pictures = -(-pictures // parts)
        n += 1
    return n


def every(node: Node, parts: int, leaf: int) -> list[Node]:
    """The node and all below it, down to leaves."""
    out = [node]
    for at in out:
        if len(at) > leaf:
            out += at.split(parts)
    return out
