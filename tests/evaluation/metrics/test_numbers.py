"""Accuracy, intervals, McNemar's test and the Borda count, against published figures."""

import numpy as np
import pytest

from reeldb.evaluation.metrics.accuracy import accuracy
from reeldb.evaluation.metrics.bootstrap import interval
from reeldb.evaluation.metrics.borda import borda
from reeldb.evaluation.metrics.mcnemar import mcnemar
from reeldb.schema.errors import EvaluationError


def test_an_unread_answer_is_wrong_and_stays_in_the_denominator() -> None:
    assert accuracy(["A", None, "B", ""], ["A", "B", "B", "C"]) == 0.5


def test_accuracy_refuses_questions_whose_answer_is_withheld() -> None:
    with pytest.raises(EvaluationError, match="question 1 has no known answer"):
        accuracy(["A", "B"], ["A", ""])


def test_mcnemar_gives_the_p_value_of_the_published_example() -> None:
    # Approval ratings (Agresti 1990, table 10.1), exact p in the vignette of R's exact2x2 by
    # Fay: b = 150, c = 86, p-value = 3.716e-05.
    first = [True] * 150 + [False] * 86 + [True] * 794 + [False] * 570
    second = [False] * 150 + [True] * 86 + [True] * 794 + [False] * 570
    test = mcnemar(first, second)
    assert (test.only_first, test.only_second) == (150, 86)
    assert test.p == pytest.approx(3.716e-05, abs=1e-8)


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 5), (3, 3), (7, 19), (60, 41), (900, 1000)])
def test_mcnemar_is_the_two_sided_binomial_test(b: int, c: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    want = stats.binomtest(b, b + c).pvalue if b + c else 1.0
    p = mcnemar([True] * b + [False] * c, [False] * b + [True] * c).p
    assert p == pytest.approx(want, abs=1e-9)


def test_an_interval_is_the_one_that_scipy_gives_for_the_same_seed() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(3).random(40)
    ours = interval(list(values), resamples=2000, seed=7)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=2000, method="percentile", rng=np.random.default_rng(7)
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_an_interval_of_half_right_answers_is_the_normal_one() -> None:
    got = interval([0.0, 1.0] * 200)
    assert got.mean == 0.5
    assert (got.low, got.high) == pytest.approx((0.451, 0.549), abs=0.003)


def test_questions_of_one_video_widen_the_interval() -> None:
    right = [1.0] * 10 + [0.0] * 10 + [1.0] * 10 + [0.0] * 10
    videos = [i // 10 for i in range(40)]
    alone, together = interval(right), interval(right, videos)
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_an_interval_comes_out_the_same_again() -> None:
    assert interval([0, 1, 1]) == interval([0, 1, 1]) != interval([0, 1, 1, 0])


def test_an_interval_of_nothing_is_refused() -> None:
    with pytest.raises(EvaluationError, match="at least one value"):
        interval([])


def test_borda_counts_the_election_of_tennessee() -> None:
    # Wikipedia, "Borda count": 126 Memphis, 194 Nashville, 173 Chattanooga, 107 Knoxville.
    votes = [
        (42, ("Memphis", "Nashville", "Chattanooga", "Knoxville")),
        (26, ("Nashville", "Chattanooga", "Knoxville", "Memphis")),
        (15, ("Chattanooga", "Knoxville", "Nashville", "Memphis")),
        (17, ("Knoxville", "Chattanooga", "Nashville", "Memphis")),
    ]
    ballots = [{name: -i for i, name in enumerate(order)} for n, order in votes for _ in range(n)]
    assert list(borda(ballots).items()) == [
        ("Nashville", 194), ("Chattanooga", 173), ("Memphis", 126), ("Knoxville", 107),
    ]  # fmt: skip


def test_borda_wants_every_candidate_in_every_vote() -> None:
    with pytest.raises(EvaluationError, match="vote 2 and the ones before it differ in b"):
        borda([{"a": 1, "b": 0}, {"a": 1}])
