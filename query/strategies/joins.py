"""A tree of joins: ordered texts become one, by levels where they do not fit together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def groups(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Adjacent things in groups whose sizes add up to `most`, `[first, last)` of each.

    A group has at least two things, whatever their sizes, except where a single one is left
    over: so each level of a tree is at most about half as long as the one below.

    >>> groups([5, 5, 5, 5], 10), groups([9, 9, 9], 10), groups([1, 1], 10)
    ([(0, 2), (2, 4)], [(0, 2), (2, 3)], [(0, 2)])
    """
    out: list[tuple[int, int]] = []
    first = total = 0
    for i, size in enumerate(sizes):
        if i - first >= 2 and total + size > most:
            out.append((first, i))
            first, total = i, 0
        total += size
    if sizes:
        out.append((first, len(sizes)))
    return out


def joined(
    things: Sequence[T],
    size: Callable[[T], int],
    most: int,
    join: Callable[[list[Sequence[T]]], list[T]],
) -> tuple[T | None, int]:
    """All things as one, and how many levels of joins it took.

    `join` is given the groups of one level, which do not depend on each other, and gives one
    thing for each. One thing alone needs no join; nothing gives None.
    """
    level, now = 0, list(things)
    while len(now) > 1:
        spans = groups([size(t) for t in now], most)
        several = [now[a:b] for a, b in spans if b - a > 1]
        made = iter(join([*several]))
        now = [next(made) if b - a > 1 else now[a] for a, b in spans]
        level += 1
    return (now[0] if now else None), level
