"""Precision, recall and F1 of what a text says against what a reference says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of the text is in the reference, of the reference in the text, and their F1."""

    precision: float
    recall: float
    f1: float


def overlap(precision: float, recall: float) -> Overlap:
    """With the harmonic mean, 0 where both are 0."""
    both = precision + recall
    return Overlap(precision, recall, 2 * precision * recall / both if both else 0.0)


def counted(right: int, found: int, true: int) -> Overlap:
    """From counts; a share of nothing is 0.

    >>> counted(2, 4, 8)
    Overlap(precision=0.5, recall=0.25, f1=0.3333333333333333)
    """
    return overlap(right / found if found else 0.0, right / true if true else 0.0)
