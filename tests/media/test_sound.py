from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from reeldb.media.sound import has_sound, sound
from reeldb.schema.errors import MediaError
from tests.clips import corrupt, join, make_clip

SCENES = [("red", 3.0), ("blue", 2.5)]


def loud(samples: NDArray[np.float32], rate: int = 16_000) -> list[bool]:
    """Whether each quarter of a second holds a tone."""
    quarters = samples[: len(samples) // (rate // 4) * (rate // 4)].reshape(-1, rate // 4)
    return [bool(np.abs(q).max() > 0.2) for q in quarters[:, rate // 40 : -rate // 40]]


BEEP, REST = [True] * 4, [False] * 4


@pytest.mark.parametrize("kind", ["mp4", "mkv", "ts", "mov"])
def test_sound_is_on_the_clock_of_the_pictures(tmp_path: Path, kind: str) -> None:
    clip = make_clip(tmp_path / f"clip.{kind}", SCENES, sound=True)
    assert has_sound(clip)
    assert loud(sound(clip, 0, 5)) == BEEP + REST + BEEP + REST + BEEP
    assert loud(sound(clip, 3.5, 5.0)) == REST[:2] + BEEP


@pytest.mark.parametrize("kind", ["mkv", "mp4", "ts"])
def test_sound_before_the_first_picture_is_left_out(tmp_path: Path, kind: str) -> None:
    clip = make_clip(tmp_path / f"clip.{kind}", SCENES, sound=True, start_s=7.0)
    assert loud(sound(clip, 0, 4)) == REST + BEEP + REST + BEEP


def test_there_are_as_many_samples_as_asked_for(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "clip.mp4", SCENES, sound=True)
    assert len(sound(clip, 1.0, 2.5)) == 24_000
    assert len(sound(clip, 1.0, 2.5, rate=8000)) == 12_000
    beyond = sound(clip, 4.0, 9.0)
    assert len(beyond) == 80_000
    assert not loud(beyond)[8:].count(True)
    assert len(sound(clip)) == pytest.approx(5.5 * 16_000, abs=2000)


def test_joined_recordings_keep_their_sound_in_place(tmp_path: Path) -> None:
    part = make_clip(tmp_path / "a.ts", [("red", 2.0), ("blue", 2.0)], sound=True)
    clip = join([part, part], tmp_path / "joined.ts")
    assert loud(sound(clip, 0, 8)) == (BEEP + REST) * 4


def test_damage_is_silent_and_what_follows_stays_in_place(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "clip.ts", [("red", 8.0)], sound=True)
    samples = sound(corrupt(clip, tmp_path / "bad.ts", 0.3, 0.4), 0, 8)
    assert loud(samples)[-16:] == BEEP + REST + BEEP + REST


def test_a_silent_file_says_so(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "clip.mp4", [("red", 0.4)])
    assert not has_sound(clip)
    with pytest.raises(MediaError, match="has no sound"):
        sound(clip)
