from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scenedetect.common import FrameTimecode
from scenedetect.detectors import AdaptiveDetector, ContentDetector

from reeldb.ingest.scenes import SceneFinder, with_threshold
from reeldb.schema.settings import DETECTORS, Settings

if TYPE_CHECKING:
    from reeldb.schema.models import Image

RED, GREEN, BLUE, WHITE, BLACK = (0, 0, 255), (0, 255, 0), (255, 0, 0), (255,) * 3, (0,) * 3
FPS = 25


def still(colour: tuple[int, ...], seed: int = 0) -> Image:
    """A plain picture with a few blocks, so that hashes and histograms have something to see."""
    picture = np.full((90, 160, 3), colour, np.uint8)
    rng = np.random.default_rng([seed, *colour])
    for _ in range(12):
        y, x = rng.integers(0, 70), rng.integers(0, 140)
        picture[y : y + 20, x : x + 20] = rng.integers(0, 255, 3)
    return picture


def cuts(pictures: list[Image], detector: str = "content", min_scene: float = 0.5) -> list[float]:
    finder = SceneFinder(Settings(detector=detector, min_scene=min_scene))
    out: list[float] = []
    for i, picture in enumerate(pictures):
        settled = finder.settled_s
        new = finder.feed(i / FPS, picture)
        assert all(c >= settled for c in new)
        out += new
    return out + finder.finish()


def shots(*lengths: int) -> list[Image]:
    colours = [RED, GREEN, BLUE, WHITE]
    return [still(colours[i % 4], i) for i, n in enumerate(lengths) for _ in range(n)]


@pytest.mark.parametrize("detector", DETECTORS)
def test_every_detector_finds_hard_cuts_at_their_first_picture(detector: str) -> None:
    assert cuts(shots(50, 40, 30), detector) == [2.0, 3.6]


@pytest.mark.parametrize("detector", DETECTORS)
def test_early_and_late_cuts_are_found_at_any_rate(detector: str) -> None:
    assert cuts(shots(1, 49, 1), detector) == [0.04, 2.0]
    assert cuts(shots(50, 2), detector) == [2.0]


@pytest.mark.parametrize("detector", DETECTORS)
def test_one_picture_and_none_have_no_cut(detector: str) -> None:
    assert cuts([], detector) == [] == cuts(shots(1), detector)


@pytest.mark.parametrize("detector", DETECTORS)
def test_a_flash_in_a_still_makes_no_scene_of_one_picture(detector: str) -> None:
    flash = [*shots(50), still(WHITE), *shots(50)]
    assert len(cuts(flash, detector)) <= 1


def test_a_fade_through_black_is_one_boundary() -> None:
    out = [(still(RED) * (1 - i / 25)).astype(np.uint8) for i in range(25)]
    back = [(still(BLUE) * (i / 25)).astype(np.uint8) for i in range(25)]
    found = cuts([*[still(RED)] * 50, *out, *back, *[still(BLUE)] * 50])
    assert len(found) == 1 and 2.9 <= found[0] <= 3.1


def test_a_change_of_size_is_compared_not_feared() -> None:
    small = [np.ascontiguousarray(p[::2, ::2]) for p in [still(RED)] * 20 + [still(BLUE)] * 20]
    assert cuts([still(RED)] * 20 + small) == [1.6]


@pytest.mark.parametrize("peer", [ContentDetector, AdaptiveDetector])
def test_our_score_is_pyscenedetects_score(peer: type[ContentDetector]) -> None:
    name = "content" if peer is ContentDetector else "adaptive"
    theirs = peer()
    ours = SceneFinder(Settings(detector=name))._detector
    rng = np.random.default_rng(1)
    for i in range(12):
        picture = rng.integers(0, 256, (40, 60, 3), dtype=np.uint8) // (1 + i % 3)
        label = FrameTimecode(i, 25.0)
        theirs.process_frame(label, picture)
        ours.process_frame(label, picture)
        assert ours._frame_score == pytest.approx(theirs._frame_score, abs=1e-9)


def test_the_default_threshold_is_written_out() -> None:
    assert with_threshold(Settings()) == Settings(threshold=27.0)
    assert with_threshold(Settings(threshold=5)) == Settings(threshold=5)
