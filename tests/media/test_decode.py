from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from reeldb.media.convert import to_rgb
from reeldb.media.decode import Decoding
from reeldb.media.probe import probe
from reeldb.schema.errors import MediaError
from tests.clips import (
    corrupt,
    edit,
    join,
    make_clip,
    near,
    read_timecode,
    remux,
    steps,
    timecode_clip,
    truncate,
)

SCENES = [("red", 2.0), ("lime", 1.52), ("blue", 1.0)]


def times(path: Path, **how: object) -> tuple[Decoding, list[float]]:
    with Decoding(path, **how) as decoding:  # type: ignore[arg-type]
        return decoding, [shown.t_s for shown in decoding]


KINDS = {
    "mp4": {}, "mkv": {}, "mov": {}, "ts": {}, "flv": {}, "h264": {}, "avi": {"codec": "mpeg4"},
    "m4v": {"codec": "mpeg4"}, "mpg": {"codec": "mpeg2video"}, "webm": {"codec": "libvpx-vp9"},
    "gif": {"codec": "gif", "pix_fmt": "rgb8"}, "hevc": {"codec": "libx265", "options": {
        "x265-params": "log-level=none"}},
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_comes_once_at_its_time(tmp_path: Path, kind: str) -> None:
    clip = make_clip(tmp_path / f"clip.{kind}", SCENES, **KINDS[kind])  # type: ignore[arg-type]
    decoding, shown = times(clip)
    assert shown == pytest.approx(steps(4.52), abs=0.002)
    assert decoding.duration_s == pytest.approx(4.52, abs=0.011)
    assert (decoding.frame_count, decoding.lost_frames, decoding.damaged) == (113, 0, False)


@pytest.mark.parametrize("kind", ["mp4", "mkv", "ts"])
def test_the_clock_begins_at_the_first_picture(tmp_path: Path, kind: str) -> None:
    clip = make_clip(tmp_path / f"clip.{kind}", SCENES, start_s=10.0, sound=True)
    decoding, shown = times(clip)
    assert (shown[0], shown[-1]) == pytest.approx((0.0, 4.48))
    assert decoding.duration_s == pytest.approx(4.52)
    assert decoding.start_pts_s == pytest.approx(10.0, abs=0.2)


def test_variable_rates_and_long_pauses_keep_their_times(tmp_path: Path) -> None:
    at = [0, 0.1, 0.5, 2, 2.04, 20, 20.5, 21]
    decoding, shown = times(timecode_clip(tmp_path / "clip.mp4", at))
    assert shown == pytest.approx(at)
    assert decoding.duration_s == pytest.approx(21.04, abs=0.01)


def test_pictures_of_a_slide_show_hours_apart_are_not_wild(tmp_path: Path) -> None:
    at = [float(i * 900) for i in range(40)]  # ten hours
    _, shown = times(timecode_clip(tmp_path / "clip.mkv", at, gop=5))
    assert shown == pytest.approx(at)


def test_one_picture_lasts_as_long_as_its_packet(tmp_path: Path) -> None:
    decoding, shown = times(make_clip(tmp_path / "clip.mp4", [("red", 0.04)]))
    assert shown == [0.0]
    assert decoding.duration_s == pytest.approx(0.04)


@pytest.mark.parametrize("parts", [("a", "a"), ("a", "b", "a"), ("b", "a")])
def test_where_timestamps_restart_the_clock_goes_on(tmp_path: Path, parts: tuple[str, ...]) -> None:
    made = {
        "a": make_clip(tmp_path / "a.ts", SCENES),
        "b": make_clip(tmp_path / "b.ts", SCENES, start_s=3.0, size=(320, 240)),
    }
    decoding, shown = times(join([made[p] for p in parts], tmp_path / "joined.ts"))
    assert shown == pytest.approx(steps(4.52 * len(parts)), abs=0.002)
    assert decoding.duration_s == pytest.approx(4.52 * len(parts))
    assert not decoding.damaged


def test_a_joined_stream_changes_its_size_where_it_was_joined(tmp_path: Path) -> None:
    a = make_clip(tmp_path / "a.ts", [("red", 1.0)])
    b = make_clip(tmp_path / "b.ts", [("blue", 1.0)], size=(320, 240))
    with Decoding(join([a, b], tmp_path / "joined.ts")) as decoding:
        seen = [(shown.frame.width, near(to_rgb(shown.frame), "red")) for shown in decoding]
    assert seen == [(160, True)] * 25 + [(320, False)] * 25


def test_a_cut_off_tail_is_counted_although_no_error_is_raised(tmp_path: Path) -> None:
    whole = make_clip(tmp_path / "whole.mp4", SCENES, container={"movflags": "faststart"})
    decoding, shown = times(truncate(whole, tmp_path / "cut.mp4", 0.8), threads=8)
    assert 0 < len(shown) < 113
    assert decoding.damaged
    assert decoding.lost_frames == 113 - len(shown)
    assert "cut off" in decoding.note


def test_a_cut_off_matroska_file_is_told_from_a_whole_one(tmp_path: Path) -> None:
    whole = make_clip(tmp_path / "whole.mkv", SCENES)
    assert not times(whole)[0].damaged
    decoding, shown = times(truncate(whole, tmp_path / "cut.mkv", 0.6))
    assert decoding.duration_s == pytest.approx(shown[-1] + 0.04, abs=0.002)
    assert decoding.damaged
    assert decoding.lost_frames == pytest.approx(113 - len(shown), abs=2)


@pytest.mark.parametrize("kind", ["mp4", "mkv", "ts", "avi"])
def test_damage_in_the_middle_does_not_end_the_file(tmp_path: Path, kind: str) -> None:
    at = steps(12)
    codec = "mpeg4" if kind == "avi" else "libx264"
    whole = timecode_clip(tmp_path / f"whole.{kind}", at, gop=12, codec=codec)
    decoding, shown = times(corrupt(whole, tmp_path / f"bad.{kind}", 0.4, 0.5))
    assert decoding.damaged
    assert decoding.note
    # AVI has no timestamps: what is lost makes the rest come earlier.
    assert shown[-1] == pytest.approx(11.96, abs=2 if kind == "avi" else 0.1)
    assert decoding.lost_frames == pytest.approx(300 - len(shown), abs=3)
    assert all(b > a for a, b in pairwise(shown))


def test_pictures_after_the_damage_are_the_right_ones(tmp_path: Path) -> None:
    whole = timecode_clip(tmp_path / "whole.ts", steps(12), gop=12)
    with Decoding(corrupt(whole, tmp_path / "bad.ts", 0.4, 0.5)) as decoding:
        late = [(s.t_s, read_timecode(to_rgb(s.frame))) for s in decoding if s.t_s > 8]
    assert len(late) > 90
    assert [t for t, _ in late] == pytest.approx([code for _, code in late], abs=0.01)


def test_what_cannot_be_decoded_at_all_is_an_error(tmp_path: Path) -> None:
    whole = make_clip(tmp_path / "whole.mp4", SCENES)
    data = bytearray(whole.read_bytes())
    start = data.index(b"mdat") + 4
    stop = data.index(b"moov") - 4
    data[start:stop] = b"\xff" * (stop - start)
    (tmp_path / "blank.mp4").write_bytes(data)
    with pytest.raises(MediaError, match="not one picture could be decoded"):
        times(tmp_path / "blank.mp4")
    with pytest.raises(MediaError, match=r"blank\.mp4"):
        probe(tmp_path / "blank.mp4")


@pytest.mark.parametrize("kind", ["mp4", "mkv", "ts", "avi", "h264"])
def test_keyframes_only_gives_few_pictures_and_the_whole_length(tmp_path: Path, kind: str) -> None:
    codec = "mpeg4" if kind == "avi" else "libx264"
    clip = make_clip(tmp_path / f"clip.{kind}", SCENES, gop=20, codec=codec)
    full, every = times(clip)
    some, keys = times(clip, keyframes_only=True)
    assert 5 < len(keys) < 15
    assert some.duration_s == pytest.approx(full.duration_s, abs=0.001)
    assert (some.frame_count, some.damaged) == (113, False)
    assert set(keys) <= set(every)


def test_a_stream_that_begins_between_keyframes_begins_at_the_next_one(tmp_path: Path) -> None:
    whole = timecode_clip(tmp_path / "whole.ts", steps(4), gop=25)
    data = whole.read_bytes()
    (tmp_path / "late.ts").write_bytes(data[188 * (len(data) // 188 // 3) :])
    with Decoding(tmp_path / "late.ts") as decoding:
        seen = [(s.t_s, read_timecode(to_rgb(s.frame))) for s in decoding]
    first = seen[0][1]
    assert first > 0
    assert [t for t, _ in seen] == pytest.approx([code - first for _, code in seen], abs=0.002)


@pytest.mark.parametrize(
    "spans", [[(1.0, 2.0)], [(0.0, 1.0), (3.52, 1.0)], [(3.52, 1.0), (0.52, 1.0)], [(1.0, 1.0)] * 2]
)
def test_an_edit_list_is_obeyed(tmp_path: Path, spans: list[tuple[float, float]]) -> None:
    whole = timecode_clip(tmp_path / "whole.mp4", steps(6), gop=40)
    with Decoding(edit(whole, tmp_path / "edited.mp4", spans)) as decoding:
        seen = [(s.t_s, read_timecode(to_rgb(s.frame))) for s in decoding]
    told = [t for start, length in spans for t in steps(length, start_s=start)]
    assert [code for _, code in seen] == pytest.approx(told)
    assert [t for t, _ in seen] == pytest.approx(steps(2.0))
    assert decoding.duration_s == pytest.approx(2.0)
    assert not decoding.damaged


def test_a_remux_shows_the_same_pictures_at_the_same_times(tmp_path: Path) -> None:
    clip = timecode_clip(tmp_path / "clip.mp4", steps(2, fps=30), fps=30)
    _, before = times(clip)
    for kind in ("mkv", "ts", "mov"):
        _, after = times(remux(clip, tmp_path / f"copy.{kind}"))
        assert after == pytest.approx(before, abs=0.0011)
