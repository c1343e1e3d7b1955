"""Borda count: rankings of the same candidates merged into one (van Erp and Schomaker 2000)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reeldb.schema.errors import EvaluationError


def borda(scores: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Each candidate's points, most first. One mapping a voter (a video): candidate to score.

    The best of n gets n - 1 points and the worst 0; those that are equal share what their
    places are worth. Raises EvaluationError where voters score different candidates.

    >>> borda([{"a": 0.9, "b": 0.5, "c": 0.5}, {"a": 0.1, "b": 0.7, "c": 0.2}])
    {'b': 2.5, 'a': 2.0, 'c': 1.5}
    """
    points: dict[str, float] = {}
    for number, vote in enumerate(scores, 1):
        if points and points.keys() != vote.keys():
            odd = sorted(points.keys() ^ vote.keys())
            raise EvaluationError(
                f"vote {number} and the ones before it differ in {', '.join(odd)}; "
                "a Borda count needs every candidate scored by every voter"
            )
        for name, score in vote.items():
            below = sum(s < score for s in vote.values())
            same = sum(s == score for s in vote.values()) - 1
            points[name] = points.get(name, 0.0) + below + same / 2
    return dict(sorted(points.items(), key=lambda item: (-item[1], item[0])))
