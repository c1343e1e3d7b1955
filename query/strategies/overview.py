"""Which pictures of an overview are still worth showing beside the ones that were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reeldb.query.operators.grid import Picture
    from reeldb.query.task import Task

PRUNINGS = ("visual", "temporal", "uniform")
ELSEWHERE_S = 1e9  # how far a picture of another video is


def pruned(
    task: Task, overview: Sequence[Picture], chosen: Sequence[Picture], keep: int, how: str
) -> list[Picture]:
    """At most `keep` of the overview (RACER, D.3): those most like some chosen picture, or, for
    `temporal`, nearest to one in time. Of equals the earliest stay."""
    if len(overview) <= keep or not chosen:
        return list(overview[:keep])
    if how == "temporal":
        near = [-min(_apart(p, c) for c in chosen) for p in overview]
    else:
        near = (task.vectors(overview) @ task.vectors(chosen).T).max(axis=1).tolist()
    order = np.argsort(-np.asarray(near), kind="stable")[:keep]
    return [overview[i] for i in sorted(order.tolist())]


def _apart(a: Picture, b: Picture) -> float:
    return abs(a.t_s - b.t_s) if a.rank == b.rank else ELSEWHERE_S
