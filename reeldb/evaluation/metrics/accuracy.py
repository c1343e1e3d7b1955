"""Accuracy of choices: a question without a readable answer counts as answered wrongly."""

from __future__ import annotations

from collections.abc import Sequence

from reeldb.schema.errors import EvaluationError


def accuracy(answers: Sequence[str | None], truths: Sequence[str]) -> float:
    """The share of answers equal to the truth; None (unparsed, failed) is wrong, never left out.

    Raises EvaluationError where the lengths differ, there is nothing to count, or a truth is
    empty (withheld by its publisher).

    >>> accuracy(["a lamp", None, "a rope"], ["a lamp", "a rope", "a rope"]) == 2 / 3
    True
    """
    if len(answers) != len(truths) or not truths:
        raise EvaluationError(
            f"accuracy of {len(answers)} answers to {len(truths)} questions; "
            "give one answer (None where there is none) a question"
        )
    if "" in truths:
        raise EvaluationError(
            f"question {truths.index('')} has no known answer; leave out questions whose "
            "answers the publisher withholds"
        )
    right = sum(a == t for a, t in zip(answers, truths, strict=True))
    return right / len(truths)
