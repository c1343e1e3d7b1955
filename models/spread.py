"""Fewer pictures of many, evenly spread."""

from __future__ import annotations


def spread(count: int, most: int) -> list[int]:
    """At most `most` of `count` positions, evenly spread, in order.

    >>> spread(8, 4), spread(8, 1), spread(3, 5)
    ([1, 3, 5, 7], [4], [0, 1, 2])
    """
    if count <= most:
        return list(range(count))
    return [int((i + 0.5) * count / most) for i in range(most)]
