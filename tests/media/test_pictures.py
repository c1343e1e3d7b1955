from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reeldb.media.convert import to_rgb
from reeldb.media.decode import Decoding
from reeldb.media.orient import orientation_of
from reeldb.media.pictures import Pictures, pictures_at
from reeldb.media.track import track
from reeldb.schema.errors import MediaError
from tests.clips import (
    Picture,
    corrupt,
    edit,
    join,
    make_clip,
    near,
    read_timecode,
    steps,
    timecode_clip,
    truncate,
)

OPEN = "open-gop=1:scenecut=0:bframes=3"
REFRESH = "intra-refresh=1:keyint=30"
VFR = sorted({round(random.Random(i).uniform(0, 20), 2) for i in range(200)})
STREAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "B frames": ("mp4", {"bframes": 3, "gop": 30}),
    "B frames in Matroska": ("mkv", {"bframes": 3, "gop": 30}),
    "B frames in a transport stream": ("ts", {"bframes": 3, "gop": 30}),
    "open GOP": ("mp4", {"gop": 30, "options": {"x264-params": OPEN}}),
    "open GOP in Matroska": ("mkv", {"gop": 30, "options": {"x264-params": OPEN}}),
    "open GOP in a transport stream": ("ts", {"gop": 30, "options": {"x264-params": OPEN}}),
    "open GOP HEVC": (
        "mp4",
        {"gop": 30, "codec": "libx265", "options": {"x265-params": f"log-level=none:{OPEN}"}},
    ),
    "intra refresh": ("mp4", {"bframes": 0, "options": {"x264-params": REFRESH}}),
    "single keyframe": ("mp4", {"gop": 9999, "options": {"x264-params": "scenecut=0"}}),
    "fragments": ("mp4", {"gop": 30, "container": {"movflags": "frag_keyframe+empty_moov"}}),
    "no timestamps": ("h264", {"gop": 30}),
    "AVI": ("avi", {"gop": 20, "codec": "mpeg4"}),
    "MPEG-2": ("mpg", {"gop": 15, "codec": "mpeg2video"}),
    "VP9": ("webm", {"gop": 30, "codec": "libvpx-vp9"}),
    "GIF": ("gif", {"codec": "gif", "pix_fmt": "rgb8"}),
    "turned": ("mp4", {"gop": 30, "rotate": 90}),
}  # fmt: skip


def sequential(path: Path) -> tuple[list[tuple[float, Picture]], float]:
    with Decoding(path) as decoding:
        shown, way = [], None
        for one in decoding:
            way = way or orientation_of(one.frame, decoding.stream.sample_aspect_ratio)
            shown.append((one.t_s, to_rgb(one.frame, way)))
    return shown, decoding.duration_s


def agrees(path: Path, seed: int = 0) -> bool:
    """Whether pictures at 40 times, together and one by one, are those of the whole decode."""
    shown, duration_s = sequential(path)
    rng = random.Random(seed)
    times = [rng.uniform(-0.2, duration_s + 0.2) for _ in range(30)]
    times += [t for t, _ in rng.sample(shown, min(10, len(shown)))]
    rng.shuffle(times)

    def expected(t_s: float) -> Picture:
        return next((image for at, image in reversed(shown) if at <= t_s + 1e-6), shown[0][1])

    with Pictures(path) as pictures:
        one_by_one = [pictures.at([t])[0] for t in times[:15]]
    got = [
        *zip(times, pictures_at(path, times), strict=True),
        *zip(times, one_by_one, strict=False),
    ]
    return all(np.array_equal(image, expected(t)) for t, image in got)


@pytest.mark.parametrize("stream", STREAMS)
def test_pictures_are_those_of_a_sequential_decode(tmp_path: Path, stream: str) -> None:
    kind, how = STREAMS[stream]
    assert agrees(timecode_clip(tmp_path / f"clip.{kind}", steps(6), **how))


@pytest.mark.parametrize("kind", ["mp4", "mkv", "ts"])
def test_pictures_of_variable_rate_streams_are_exact(tmp_path: Path, kind: str) -> None:
    clip = timecode_clip(tmp_path / f"clip.{kind}", [t - VFR[0] for t in VFR], fps=10, gop=30)
    assert agrees(clip)
    middle = VFR[100] - VFR[0]
    assert read_timecode(pictures_at(clip, [middle + 0.002])[0]) == pytest.approx(middle)


@pytest.mark.parametrize("kind", ["mp4", "mkv", "ts"])
def test_pictures_of_streams_that_start_late_are_exact(tmp_path: Path, kind: str) -> None:
    clip = timecode_clip(tmp_path / f"clip.{kind}", steps(6, start_s=10.0), gop=25)
    assert agrees(clip)
    assert read_timecode(pictures_at(clip, [3.0])[0]) == 13.0


def test_pictures_of_joined_and_size_changing_streams_are_exact(tmp_path: Path) -> None:
    a = timecode_clip(tmp_path / "a.ts", steps(3), gop=20)
    b = timecode_clip(tmp_path / "b.ts", steps(3, start_s=1.0), gop=20, size=(320, 200))
    joined = join([a, b, a], tmp_path / "joined.ts")
    assert agrees(joined)
    sizes = [image.shape[1] for image in pictures_at(joined, [1.0, 4.0, 7.0])]
    codes = [read_timecode(image) for image in pictures_at(joined, [1.0, 4.0, 7.0])]
    assert (sizes, codes) == ([160, 320, 160], [1.0, 2.0, 1.0])


def test_pictures_of_edited_files_are_exact(tmp_path: Path) -> None:
    whole = timecode_clip(tmp_path / "whole.mp4", steps(6), gop=40)
    edited = edit(whole, tmp_path / "edited.mp4", [(3.52, 1.0), (0.52, 2.0)])
    assert agrees(edited)
    assert [read_timecode(i) for i in pictures_at(edited, [0.0, 1.0, 2.0])] == [3.52, 0.52, 1.52]


def test_pictures_of_broken_files_are_those_that_can_be_decoded(tmp_path: Path) -> None:
    whole = timecode_clip(tmp_path / "whole.mkv", steps(6), gop=25)
    assert agrees(truncate(whole, tmp_path / "cut.mkv", 0.7))
    for t, image in zip(
        [0.5, 5.5], pictures_at(corrupt(whole, tmp_path / "bad.mkv", 0.5, 0.52), [0.5, 5.5]),
        strict=True,
    ):  # fmt: skip
        assert read_timecode(image) == pytest.approx(t, abs=0.05)


def test_scenes_have_their_colours_to_the_frame(tmp_path: Path) -> None:
    scenes = [("red", 2.0), ("lime", 1.52), ("blue", 1.0), ("white", 2.0)]
    clip = make_clip(tmp_path / "clip.mp4", scenes, gop=250, bframes=4)
    at = [0.0, 1.99, 2.0, 3.51, 3.52, 4.51, 4.52, 6.5]
    want = ["red", "red", "lime", "lime", "blue", "blue", "white", "white"]
    assert all(
        near(image, colour) for image, colour in zip(pictures_at(clip, at), want, strict=True)
    )


def test_any_order_and_repeats_give_each_time_its_picture(tmp_path: Path) -> None:
    clip = timecode_clip(tmp_path / "clip.mp4", steps(4), gop=10)
    at = [3.0, 0.0, 3.0, 1.5, 0.04, 99.0, -5.0]
    codes = [read_timecode(image) for image in pictures_at(clip, at)]
    assert codes == [3.0, 0.0, 3.0, 1.48, 0.04, 3.96, 0.0]


def test_no_times_give_no_pictures_and_nan_is_refused(tmp_path: Path) -> None:
    clip = timecode_clip(tmp_path / "clip.mp4", steps(1))
    assert pictures_at(clip, []) == []
    with pytest.raises(ValueError, match="nan"):
        pictures_at(clip, [float("nan")])


def test_pictures_are_shrunk_to_the_side_asked_for(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "clip.mp4", [("red", 0.2)], size=(640, 360), rotate=90)
    assert pictures_at(clip, [0.1], max_side=64)[0].shape == (64, 36, 3)


def test_a_far_picture_is_reached_by_a_seek(tmp_path: Path) -> None:
    clip = timecode_clip(tmp_path / "clip.mp4", steps(20), gop=25)
    assert len(track(clip).keys) >= 20
    with Pictures(clip) as pictures:
        assert read_timecode(pictures.at([19.0])[0]) == 19.0
        assert pictures._run.position < 25 * 20
        assert pictures._decoding.packets.read < 60  # of 500, before the seek
        assert read_timecode(pictures.at([0.52])[0]) == 0.52


def test_a_file_that_is_gone_says_so(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="does not exist"):
        pictures_at(tmp_path / "gone.mp4", [0.0])


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    clip = timecode_clip(tmp_path / "clip.mkv", steps(8), gop=25)
    assert read_timecode(pictures_at(clip, [7.0])[0]) == 7.0
    timecode_clip(clip, steps(8, start_s=2.0), gop=10)
    assert read_timecode(pictures_at(clip, [7.0])[0]) == 9.0
