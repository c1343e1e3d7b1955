from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import pytest
from scenedetect.common import FrameTimecode, Timecode
from scenedetect.detector import FlashFilter

from reeldb.ingest.spacing import Merge, Spacing, Suppress


def cuts(
    spacing: Spacing, candidates: list[float], end_s: float, step_s: float = 0.04
) -> list[float]:
    out: list[float] = []
    for i in range(round(end_s / step_s)):
        t = round(i * step_s, 6)
        if t in candidates:
            out += spacing.candidate(t)
        out += spacing.quiet(t)
        assert all(c >= spacing.settled_s(t) or c in out for c in out)
    return out + spacing.finish()


def test_a_cut_earlier_than_the_minimum_is_kept_when_it_is_the_first() -> None:
    for spacing in (Merge(0.5), Suppress(0.5)):
        assert cuts(spacing, [0.04], 2) == [0.04]


def test_a_flash_is_one_boundary() -> None:
    assert cuts(Merge(0.5), [1.0, 1.04], 4) == [1.0]
    assert cuts(Suppress(0.5), [1.0, 1.04], 4) == [1.0]


def test_a_long_burst_is_cut_at_both_ends_even_at_the_end_of_the_video() -> None:
    burst = [1.0, 1.4, 1.8, 2.2]
    assert cuts(Merge(0.5), burst, 4) == [1.0, 2.2]
    assert cuts(Merge(0.5), burst, 2.24) == [1.0, 2.2]
    assert cuts(Suppress(0.5), burst, 4) == [1.0, 1.8]


def test_without_a_minimum_every_candidate_is_a_cut() -> None:
    every = [0.04, 0.08, 1.0]
    assert cuts(Merge(0.0), every, 2) == every == cuts(Suppress(0.0), every, 2)


def peer(candidates: list[float], length_s: float, end_s: float, step_s: float) -> list[float]:
    """PySceneDetect's own filter, with quiet before the first and after the last picture."""
    flash = FlashFilter(FlashFilter.Mode.MERGE, length_s)
    shift = 10.0
    out: list[float] = []
    for i in range(-1, round(end_s / step_s) + 100):
        t = round(i * step_s, 6)
        at = 0.0 if i < 0 else t + shift
        label = FrameTimecode(Timecode(round(at * 1e6), Fraction(1, 1_000_000)), Fraction(25))
        out += [round(c.seconds - shift, 6) for c in flash.filter(label, t in candidates)]
    return out


@pytest.mark.parametrize("seed", range(40))
def test_separate_bursts_are_merged_as_pyscenedetect_merges_them(seed: int) -> None:
    rng = random.Random(seed)
    frame = rng.randrange(3, 60)
    candidates: list[float] = []
    for _ in range(6):  # each burst is one candidate, or long enough for a cut at its end
        length = rng.choice([1, rng.randrange(20, 40)])
        frames = [
            frame,
            *sorted({frame + 1, *range(frame + 1, frame + length, rng.randrange(1, 12))}),
        ]
        if length == 1:
            frames = [frame]
        candidates += [round(f * 0.04, 6) for f in frames]
        frame = frames[-1] + rng.randrange(14, 60)
    end = candidates[-1] + 0.2
    assert cuts(Merge(0.5), candidates, end) == peer(candidates, 0.5, end, 0.04)


@pytest.mark.parametrize("seed", range(40))
def test_cuts_rise_and_keep_their_distance(seed: int) -> None:
    rng = random.Random(seed)
    candidates = sorted({round(rng.randrange(1, 500) * 0.04, 6) for _ in range(120)})
    for spacing in (Merge(0.5), Suppress(0.5)):
        found = cuts(spacing, candidates, 20.0)
        assert set(found) <= set(candidates)
        assert all(b - a >= 0.5 for a, b in pairwise(found))
        assert found[0] == candidates[0]
