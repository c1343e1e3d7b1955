"""Moment retrieval and grounding, against what the papers' own scripts give."""

import pytest

from reeldb.evaluation.metrics.grounding import grounding
from reeldb.evaluation.metrics.moments import IOUS, moments
from reeldb.schema.errors import EvaluationError

PREDICTED = [
    [(0, 70, 0.9986), (78, 146, 0.4138), (0, 146, 0.0444)],
    [(10, 30, 0.9), (12, 28, 0.8), (60, 74, 0.7), (100, 110, 0.3)],
]
GOLDEN = [2 / 3] * 5 + [0.5] * 3 + [0.25, 0.0]
MEAN = 0.508333
TRUE = [[(82, 150)], [(10, 28), (62, 72)]]


def test_moments_score_as_the_script_of_qvhighlights_does() -> None:
    # compute_average_precision_detection of standalone_eval, run on the same lists.
    scores = moments(PREDICTED, TRUE)
    assert list(scores.precision) == list(IOUS)
    assert list(scores.precision.values()) == pytest.approx(GOLDEN, abs=1e-4)
    assert scores.mean_average_precision == pytest.approx(MEAN, abs=1e-4)
    assert (scores.recall_at_1[0.5], scores.recall_at_1[0.7]) == (0.5, 0.5)
    assert scores.recall_at_1[0.95] == 0


def test_a_query_without_predictions_counts_as_zero() -> None:
    scores = moments([[(0, 10, 1.0)], []], [[(0, 10)], [(0, 10)]])
    assert scores.recall_at_1[0.7] == scores.mean_average_precision == 0.5


def test_only_ten_predictions_of_a_query_count() -> None:
    far = [(100.0 + i, 101.0 + i, 0.5) for i in range(10)]
    assert moments([[*far, (0, 10, 0.9)]], [[(0, 10)]]).mean_average_precision == 0


def test_a_true_span_is_found_once() -> None:
    once = moments([[(0, 10, 0.9), (0, 10, 0.8), (20, 30, 0.7)]], [[(0, 10), (20, 30)]])
    assert once.precision[0.5] == pytest.approx((1 + 2 / 3) / 2)


def test_a_query_without_a_true_span_is_refused() -> None:
    with pytest.raises(EvaluationError, match="at least one true span"):
        moments([[]], [[]])


def test_grounding_scores_as_the_script_of_nextgqa_does() -> None:
    # get_tIoU of eval_ground.py gives (IoU, IoP): (0.25, 1/3), (0.5, 1), (0, 1) and (0, 0).
    got = grounding(
        [(15, 30), (12, 17), (13, 13), (40, 50)],
        [[(10, 20)], [(0, 1), (10, 20)], [(10, 20)], [(10, 20)]],
        [True, True, False, True],
    )
    assert got.iou == pytest.approx(0.1875)
    assert got.iop == pytest.approx((1 / 3 + 1 + 1) / 4)
    assert (got.iou_at, got.iop_at) == ({0.3: 0.25, 0.5: 0.25}, {0.3: 0.75, 0.5: 0.5})
    assert got.accuracy_gqa == 0.25


def test_a_question_without_a_predicted_span_is_not_grounded() -> None:
    got = grounding([(10, 20), None], [[(10, 20)], [(10, 20)]], [True, True])
    assert (got.iou, got.iop, got.accuracy_gqa) == (0.5, 0.5, 0.5)
