"""Moment retrieval as in QVHighlights (Lei, Berg, Bansal 2021): R@1 at an IoU, and mAP.

Written after `standalone_eval/eval.py` of jayleicn/moment_detr at 2fa9e32e, and checked against
it. The average precision is Pascal VOC's of 2011: precision made monotone, all points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from reeldb.schema.errors import EvaluationError

IOUS = tuple(round(0.5 + 0.05 * i, 2) for i in range(10))
MOST = 10  # predictions of a query that count

Span = tuple[float, float]
Scored = tuple[float, float, float]  # start_s, end_s, score


@dataclass(frozen=True, slots=True)
class Moments:
    """Means over queries: recall of the first prediction and average precision, by IoU."""

    recall_at_1: dict[float, float]
    precision: dict[float, float]

    @property
    def mean_average_precision(self) -> float:
        """The mean over the ten IoUs: the paper's "mAP avg"."""
        return sum(self.precision.values()) / len(self.precision)


def moments(predicted: Sequence[Sequence[Scored]], truths: Sequence[Sequence[Span]]) -> Moments:
    """One list of predictions and one of true spans a query, in the same order.

    The first prediction of a list is the one that R@1 counts; for precision they are taken by
    score, the first MOST of the list. A query without predictions scores 0. Raises
    EvaluationError where lists do not pair or a query has no true span.
    """
    if len(predicted) != len(truths) or not truths or not all(truths):
        raise EvaluationError(
            f"{len(predicted)} lists of predictions for {len(truths)} queries; give one list "
            "(maybe empty) a query, and at least one true span a query"
        )
    best = [
        max(iou(guesses[0][:2], span) for span in spans) if guesses else 0.0
        for guesses, spans in zip(predicted, truths, strict=True)
    ]
    recall = {at: sum(b >= at for b in best) / len(best) for at in IOUS}
    precision = {
        at: sum(average_precision(g, s, at) for g, s in zip(predicted, truths, strict=True))
        / len(truths)
        for at in IOUS
    }
    return Moments(recall, precision)


def iou(a: Span, b: Span) -> float:
    """Intersection over union of two stretches of time; 0 where they do not overlap.

    >>> iou((0, 10), (5, 15)) == 1 / 3, iou((0, 1), (2, 3)), iou((4, 4), (4, 4))
    (True, 0.0, 0.0)
    """
    shared = max(0.0, min(a[1], b[1]) - max(a[0], b[0]))
    union = (a[1] - a[0]) + (b[1] - b[0]) - shared
    return shared / union if union > 0 else 0.0


def average_precision(guesses: Sequence[Scored], spans: Sequence[Span], at: float) -> float:
    """The area under the monotone precision-recall curve of one query at one IoU.

    Each guess, best score first, takes the free true span that it overlaps most; a span is
    found once, so that a second guess at it is wrong.
    """
    free = list(spans)
    hits = []
    for guess in sorted(guesses[:MOST], key=lambda g: -g[2]):
        found = max(free, key=lambda span: iou(guess[:2], span), default=None)
        hits.append(found is not None and iou(guess[:2], found) >= at)
        if hits[-1] and found is not None:
            free.remove(found)
    right = list(accumulate(hits))
    precisions = [r / n for n, r in enumerate(right, 1)]
    monotone = list(accumulate(reversed(precisions), max))[::-1]
    return sum(p for p, hit in zip(monotone, hits, strict=True) if hit) / len(spans)
