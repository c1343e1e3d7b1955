"""The real, hard and odd videos beside the checkout, where they are there."""

from __future__ import annotations

import csv
import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from reeldb.media.decode import Decoding
from reeldb.media.identity import scan_packets
from reeldb.media.pictures import pictures_at
from reeldb.media.probe import probe
from reeldb.media.sound import has_sound, sound
from reeldb.media.subtitles import cues
from reeldb.schema.errors import MediaError
from tests.clips import near
from tests.conftest import SHARED
from tests.media.test_pictures import agrees

pytestmark = pytest.mark.shared

Row = dict[str, str]


@cache
def manifest() -> dict[str, Row]:
    """The rows of the hard files' manifest by number, empty where they are absent."""
    file = SHARED / "videos" / "hard" / "manifest.csv"
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8", newline="") as f:
        return {row["file"].lstrip("-")[:2]: row for row in csv.DictReader(f)}


HARD = [f"{n:02d}" for n in (
    1, 2, 3, 4, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 21, 23, 24, 25, 28, 29, 30, 32, 33, 37, 39,
    42, 45, 47, 48, 54, 56, 58,
)]  # fmt: skip
ODD = (
    "bear-vp9-odd-dimensions.webm", "edit_list_positive_shift.mp4", "full_blocks.mkv",
    "hlg10-color-test.mp4", "nasa_13013_rotated.mp4", "no_duration.webm",
    "sample_fragmented_uuid.mp4", "sample_h264.ts", "sample_partially_fragmented.mp4",
    "sample_with_chapters.mkv", "sample_with_htc_rotation_track_name.mkv", "sample_with_srt.mkv",
    "test_13_frames.mp4", "test_non_zero_start.mp4", "transparent.webm", "video_init.mp4",
)  # fmt: skip
UNREADABLE = {"full_blocks.mkv", "sample_fragmented_uuid.mp4", "video_init.mp4"}


def test_every_hard_file_is_in_the_list_above(shared_videos: Path) -> None:
    assert sorted(manifest()) == HARD
    assert len(list((shared_videos / "hard").iterdir())) == len(HARD) + 1
    assert sorted(f.name for f in (shared_videos / "odd").iterdir()) == sorted(ODD)


@pytest.mark.parametrize("number", HARD)
def test_hard_files_are_as_their_manifest_says(shared_videos: Path, number: str) -> None:
    row = manifest()[number]
    file = shared_videos / "hard" / row["file"]
    if "clear error" in row["expected"]:
        with pytest.raises(MediaError) as caught:
            scan_packets(file)
        assert "\n" not in str(caught.value)
        assert file.name in str(caught.value)
        return
    with Decoding(file) as decoding:
        shown = [one.t_s for one in decoding]
    facts = probe(file)
    width, height = map(int, row["display_size"].split("x"))
    assert len(shown) == decoding.frame_count == int(row["n_frames_ffprobe_count"])
    assert decoding.duration_s == pytest.approx(float(row["true_duration_s"]), abs=0.05)
    assert decoding.start_pts_s == pytest.approx(float(row["first_pts"]), abs=0.001)
    assert (facts.width, facts.height) == (width, height)
    assert facts.rotation == -int(row["rotation"]) % 360
    assert decoding.damaged == ("warning" in row["expected"])
    assert (decoding.lost_frames > 0) == decoding.damaged
    with Decoding(file, keyframes_only=True) as keys:
        assert 0 < len(list(keys)) <= len(shown)
    assert keys.duration_s == pytest.approx(decoding.duration_s, abs=0.002)


def test_losses_of_the_damaged_hard_files_are_counted(shared_videos: Path) -> None:
    for number, lost in (("37", 25), ("11", 152)):
        with Decoding(shared_videos / "hard" / manifest()[number]["file"]) as decoding:
            assert len(list(decoding)) > 90
        assert decoding.lost_frames == pytest.approx(lost, abs=1)


@pytest.mark.parametrize(
    ("number", "t_s", "colour"),
    [
        ("01", 1.99, "red"), ("02", 19.9, "green"), ("02", 20.0, "blue"), ("04", 1.9, "red"),
        ("04", 2.1, "blue"), ("28", 45.0, "blue"), ("24", 3.0, "blue"), ("23", 1.0, (127, 0, 0)),
        ("23", 3.0, (0, 0, 51)), ("48", 2.0, "blue"), ("29", 0.5, "red"), ("29", 5.9, "blue"),
        ("03", 6.9, "white"), ("56", 1.0, "black"), ("42", 0.04, "red"),
    ],
)  # fmt: skip
def test_hard_files_have_the_right_colour_at_the_right_time(
    shared_videos: Path, number: str, t_s: float, colour: str
) -> None:
    file = shared_videos / "hard" / manifest()[number]["file"]
    assert near(pictures_at(file, [t_s], max_side=320)[0], colour, 40)


def test_the_rotated_hard_files_are_upright(shared_videos: Path) -> None:
    folder = shared_videos / "hard"
    first, second = pictures_at(folder / manifest()["07"]["file"], [1.0, 3.0])
    assert near(first[:70], "blue", 40)
    assert near(first[90:], "red", 40)
    assert near(second[:70], "white", 40)
    assert near(second[90:], "lime", 40)
    half = pictures_at(folder / manifest()["08"]["file"], [1.0])[0]
    assert near(half[:, :70], "blue", 40)
    assert near(half[:, 90:], "red", 40)


@pytest.mark.parametrize("number", ["01", "02", "03", "04", "11", "25", "28", "37", "39", "48"])
def test_pictures_of_hard_files_are_those_of_a_sequential_decode(
    shared_videos: Path, number: str
) -> None:
    assert agrees(shared_videos / "hard" / manifest()[number]["file"])


@pytest.mark.parametrize("name", ODD)
def test_odd_files_are_read_sanely_or_refused(shared_videos: Path, name: str) -> None:
    file = shared_videos / "odd" / name
    if name in UNREADABLE:
        with pytest.raises(MediaError, match=name):
            scan_packets(file)
        return
    packets = scan_packets(file)
    with Decoding(file) as decoding:
        shown = [one.t_s for one in decoding]
    assert packets.count == len(shown)
    assert packets.duration_s == pytest.approx(decoding.duration_s, abs=0.002)
    assert 0 < decoding.duration_s < 11
    assert not decoding.damaged
    image = pictures_at(file, [decoding.duration_s / 2])[0]
    facts = probe(file)
    assert image.shape == (facts.height, facts.width, 3)


def test_odd_files_keep_what_is_special_about_them(shared_videos: Path) -> None:
    folder = shared_videos / "odd"
    assert probe(folder / "hlg10-color-test.mp4").hdr
    turned = probe(folder / "nasa_13013_rotated.mp4")
    assert (turned.rotation, turned.width, turned.height) == (270, 270, 480)
    assert probe(folder / "transparent.webm").alpha
    assert (probe(folder / "bear-vp9-odd-dimensions.webm").width) == 161
    assert cues(folder / "sample_with_srt.mkv")[0].text == "This is the first subtitle."


def test_real_films_have_their_length_sound_and_words(shared_videos: Path) -> None:
    folder = shared_videos / "real"
    for name, length in (("sintel_trailer.mp4", 52.208), ("tears_of_steel_clip.webm", 70.458)):
        assert scan_packets(folder / name).duration_s == pytest.approx(length, abs=0.01)
    assert scan_packets(folder / "big_buck_bunny.mp4").duration_s == pytest.approx(
        596.458, abs=0.01
    )
    assert has_sound(folder / "nasa_13013.mp4")
    assert np.abs(sound(folder / "nasa_13013.mp4", 1.0, 4.0)).max() > 0.01
    assert [c.text for c in cues(folder / "friday.mp4")][:2] == ["Hildy!", "How are you?"]
    assert cues(folder / "nasa_13013.mp4")[0].text.endswith("science segment of the Webb")


def test_far_pictures_of_a_film_are_those_around_them(shared_videos: Path) -> None:
    film = shared_videos / "real" / "big_buck_bunny.mp4"
    times = [random.Random(1).uniform(0, 590) for _ in range(3)]
    together = pictures_at(film, times, max_side=160)
    alone = [pictures_at(film, [t], max_side=160)[0] for t in times]
    assert all(np.array_equal(a, b) for a, b in zip(together, alone, strict=True))
    assert pictures_at(film, [300.0], max_side=160)[0].mean() < 10  # black
