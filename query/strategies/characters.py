"""Characters and objects of stretches, and how repeated ones become one (MR. Video, 3.2.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reeldb.query.task import Picture

BLOCK = 16  # characters of a set that one call compares: two sets are 32 pictures
Pairs = Sequence[tuple[int, int, int]]  # place in set 1, in set 2, which of the two is better
_LAST = re.compile(r"[_ -](?:[a-z]|\d+)$", re.I)


@dataclass(frozen=True, slots=True)
class Entity:
    """One character or object. `members` are (stretch, local name); the first is the oldest."""

    description: str
    best: Picture
    members: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A block of one set against a block of another: one call."""

    first: Sequence[Entity]
    second: Sequence[Entity]

    @property
    def pictures(self) -> tuple[Picture, ...]:
        return tuple(e.best for e in (*self.first, *self.second))


Compare = Callable[[Sequence[Comparison]], Sequence[Pairs]]


def folded(sets: Sequence[Sequence[Entity]], compare: Compare) -> list[Entity]:
    """One set out of those of all stretches: neighbours are merged pair by pair, then what came
    of them. The comparisons of one level do not depend on each other."""
    level = [list(s) for s in sets if s]
    while len(level) > 1:
        pairs = [(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        blocks = [
            (n, i, j, Comparison(a[i : i + BLOCK], b[j : j + BLOCK]))
            for n, (a, b) in enumerate(pairs)
            for i in range(0, len(a), BLOCK)
            for j in range(0, len(b), BLOCK)
        ]
        found = compare([c for *_, c in blocks])
        same: list[list[tuple[int, int, int]]] = [[] for _ in pairs]
        for (n, i, j, _), hits in zip(blocks, found, strict=True):
            same[n] += [(i + a, j + b, better) for a, b, better in hits]
        merged = [merge(a, b, hits) for (a, b), hits in zip(pairs, same, strict=True)]
        level = merged + ([level[-1]] if len(level) % 2 else [])
    return level[0] if level else []


def merge(first: Sequence[Entity], second: Sequence[Entity], same: Pairs) -> list[Entity]:
    """The two sets as one. Each entity is merged once at most: a second claim on it is dropped."""
    out, taken = list(first), set[int]()
    mine: set[int] = set()
    for a, b, better in same:
        if a in mine or b in taken:
            continue
        mine.add(a)
        taken.add(b)
        other = second[b]
        shown = other if better else first[a]
        out[a] = replace(shown, members=(*first[a].members, *other.members))
    return [*out, *(e for i, e in enumerate(second) if i not in taken)]


def new_names(entities: Sequence[Entity]) -> list[str]:
    """A unique name for each: the kind that its oldest local name tells, and a letter.

    >>> letters(0), letters(25), letters(26)
    ('a', 'z', 'aa')
    """
    counts: dict[str, int] = {}
    out = []
    for entity in entities:
        kind = _LAST.sub("", entity.members[0][1]).strip().replace(" ", "_") or "thing"
        n = counts.get(kind, 0)
        counts[kind] = n + 1
        out.append(f"{kind}_{letters(n)}")
    return out


def letters(n: int) -> str:
    head = letters(n // 26 - 1) if n >= 26 else ""
    return head + chr(ord("a") + n % 26)
