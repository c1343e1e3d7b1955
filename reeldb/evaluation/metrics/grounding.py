"""Grounded question answering as in NExT-GQA (Xiao et al. 2024): does the evidence show it?

IoU and IoP (intersection over prediction) of one predicted span with the true span that fits it
best; Acc@GQA counts a right answer only where IoP is at least 0.5. Written after
`code/TempGQA/eval_ground.py` of doc-doc/NExT-GQA at 3902e7d4, with one difference: there a
question without a prediction is left out, here it counts as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reeldb.evaluation.metrics.moments import Span, iou
from reeldb.schema.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class Grounding:
    """Means over questions. `iou_at` and `iop_at` are the shares at or above 0.3 and 0.5."""

    iou: float
    iop: float
    iou_at: dict[float, float]
    iop_at: dict[float, float]
    accuracy_gqa: float


def iop(predicted: Span, true: Span) -> float:
    """The share of the predicted span inside the true one; a point is inside or not.

    >>> iop((0, 10), (5, 15)), iop((6, 6), (5, 15)), iop((1, 1), (5, 15))
    (0.5, 1.0, 0.0)
    """
    start_s, end_s = predicted
    if end_s <= start_s:
        return float(true[0] <= start_s <= true[1])
    return max(0.0, min(end_s, true[1]) - max(start_s, true[0])) / (end_s - start_s)


def grounding(
    predicted: Sequence[Span | None], truths: Sequence[Sequence[Span]], right: Sequence[bool]
) -> Grounding:
    """One predicted span (None: none), the true spans, and whether the answer was right, a
    question. Raises EvaluationError where they do not pair or a question has no true span."""
    if not len(predicted) == len(truths) == len(right) or not truths or not all(truths):
        raise EvaluationError(
            f"{len(predicted)} predictions, {len(truths)} lists of true spans and {len(right)} "
            "answers; give one of each a question, and at least one true span a question"
        )
    pairs = list(zip(predicted, truths, strict=True))
    ious = [max(iou(p, t) for t in spans) if p else 0.0 for p, spans in pairs]
    iops = [max(iop(p, t) for t in spans) if p else 0.0 for p, spans in pairs]
    return Grounding(
        _mean(ious),
        _mean(iops),
        {at: _mean([v >= at for v in ious]) for at in (0.3, 0.5)},
        {at: _mean([v >= at for v in iops]) for at in (0.3, 0.5)},
        _mean([v >= 0.5 and ok for v, ok in zip(iops, right, strict=True)]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
