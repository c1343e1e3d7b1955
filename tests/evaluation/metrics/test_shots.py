"""How the benchmark counts cuts."""

from pathlib import Path

from reeldb.evaluation.metrics.shots import Score, Truth, score, total

PATH = Path("a.mp4")


def test_a_cut_pairs_with_one_true_cut_only() -> None:
    truth = Truth(PATH, (1.0, 1.05, 4.0))
    assert score([1.02, 1.04, 1.06, 9.0], truth, 0.1) == Score(right=2, false=2, missed=1)


def test_tolerance_includes_its_end_and_nothing_beyond() -> None:
    truth = Truth(PATH, (2.0,))
    assert score([2.25], truth, 0.25) == Score(right=1)
    assert score([2.26], truth, 0.25) == Score(false=1, missed=1)


def test_one_cut_inside_a_dissolve_counts_for_nothing_and_a_second_is_false() -> None:
    truth = Truth(PATH, (1.0,), ((5.0, 6.0),))
    assert score([1.0, 5.5], truth, 0.1) == Score(right=1)
    assert score([1.0, 5.5, 5.9], truth, 0.1) == Score(right=1, false=1)


def test_figures_add_up_over_videos_and_an_unread_video_found_nothing() -> None:
    other = Path("b.mp4")
    summed = total({PATH: [1.0, 3.0]}, [Truth(PATH, (1.0,)), Truth(other, (2.0,))], 0.1)
    assert summed == Score(right=1, false=1, missed=1)
    assert (summed.precision, summed.recall, summed.f1) == (0.5, 0.5, 0.5)
    assert (Score().precision, Score().recall, Score().f1) == (1.0, 1.0, 1.0)
