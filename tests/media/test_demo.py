from __future__ import annotations

import pytest

from reeldb.media.demo import demo_clip
from reeldb.media.identity import scan_packets
from reeldb.media.pictures import pictures_at
from reeldb.media.probe import probe


def test_the_demo_clip_is_small_and_whole() -> None:
    clip = demo_clip()
    facts = probe(clip)
    assert clip.stat().st_size <= 3_000_000
    assert (facts.codec, facts.width, facts.height, facts.fps) == ("h264", 640, 360, 24.0)
    assert scan_packets(clip).duration_s == pytest.approx(58.54, abs=0.01)


def test_the_demo_clip_carries_its_attribution() -> None:
    text = (demo_clip().parent / "ATTRIBUTION.txt").read_text()
    for words in ("CC-BY 3.0", "Blender Foundation", "www.bigbuckbunny.org", "cut", "re-encoded"):
        assert words in text


def test_the_demo_clip_shows_what_its_attribution_says() -> None:
    branch, title, burrow, meadow = pictures_at(demo_clip(), [6.5, 11.5, 18.0, 53.0])
    sky, lettering = branch[40:100, 200:500], title[80:200, 330:610]
    assert (sky.mean(axis=(0, 1)) > 100).all()
    assert (lettering > 245).all(axis=2).mean() > 0.25  # the title is white and large
    assert (branch[155:205, 150:480] > 235).all(axis=2).mean() > 0.05  # a line of white words
    assert burrow[100:260, 220:420].mean() < 70
    red = meadow[:, :, 0].astype(int) - meadow[:, :, 1] > 90
    assert red.sum() > 30  # the apple
