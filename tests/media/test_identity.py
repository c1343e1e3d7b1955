from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reeldb.media.decode import Decoding
from reeldb.media.identity import (
    file_digest,
    same_timing,
    scan_packets,
    timed_content_id,
    timing_blob,
    timing_times,
)
from reeldb.media.payload import _by_length, _by_start_code
from reeldb.schema.errors import MediaError
from tests.clips import edit, join, make_clip, remux, steps, timecode_clip, write_clip
from tests.media.test_orient import quarters

SCENES = [("red", 1.0), ("lime", 1.52), ("blue", 1.0)]
CHAINS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "h264": ({"bframes": 3}, ("mkv", "ts", "mov", "ts", "mp4")),
    "hevc": ({"codec": "libx265", "options": {"x265-params": "log-level=none"}}, ("mkv", "ts")),
    "mpeg4": ({"codec": "mpeg4"}, ("mkv", "mov", "mkv")),
    "vp9": ({"codec": "libvpx-vp9"}, ("mkv", "mp4")),
}


@pytest.mark.parametrize("codec", CHAINS)
def test_a_stream_copy_shows_and_sounds_the_same(tmp_path: Path, codec: str) -> None:
    how, chain = CHAINS[codec]
    clip = make_clip(tmp_path / "0.mp4", SCENES, sound=True, fps=30000 / 1001, **how)
    original = scan_packets(clip)
    for number, kind in enumerate(chain):
        clip = remux(clip, tmp_path / f"{number + 1}.{kind}")
        copy = scan_packets(clip)
        assert copy.content_digest == original.content_digest
        assert copy.sound_digest == original.sound_digest
        assert same_timing(copy.times_ms, original.times_ms)
        assert copy.duration_s == pytest.approx(original.duration_s, abs=0.002)


def test_the_scan_counts_on_the_same_clock_as_the_decode(tmp_path: Path) -> None:
    at = [0, 0.1, 0.5, 2, 2.04, 20, 20.5, 21]
    a = make_clip(tmp_path / "a.ts", SCENES)
    files = [
        timecode_clip(tmp_path / "vfr.mp4", at),
        make_clip(tmp_path / "late.mkv", SCENES, start_s=8.0),
        make_clip(tmp_path / "raw.h264", SCENES),
        make_clip(tmp_path / "old.avi", SCENES, codec="mpeg4"),
        join([a, a], tmp_path / "joined.ts"),
    ]
    for file in files:
        packets = scan_packets(file)
        with Decoding(file) as decoding:
            shown = [shown.t_s for shown in decoding]
        assert packets.times_ms == pytest.approx([t * 1000 for t in shown], abs=0.51)
        assert packets.count == decoding.frame_count
        assert packets.duration_s == pytest.approx(decoding.duration_s)


def test_other_pictures_are_other_content(tmp_path: Path) -> None:
    a = scan_packets(make_clip(tmp_path / "a.mp4", SCENES))
    b = scan_packets(make_clip(tmp_path / "b.mp4", [*SCENES[:2], ("white", 1.0)]))
    c = scan_packets(make_clip(tmp_path / "c.mp4", SCENES, options={"crf": "40"}))
    assert len({p.content_digest for p in (a, b, c)}) == 3


def test_turning_mirroring_and_pixel_aspect_are_part_of_the_content(tmp_path: Path) -> None:
    pictures = [(t, quarters()) for t in steps(0.4)]
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"rotate": 90},
        {"rotate": 270},
        {"mirror": True},
        {"sar": Fraction(4, 3)},
    )
    digests = {
        scan_packets(write_clip(tmp_path / f"{i}.mp4", pictures, **way)).content_digest
        for i, way in enumerate(ways)
    }
    assert len(digests) == len(ways)


def test_the_sound_has_an_identity_of_its_own(tmp_path: Path) -> None:
    a = scan_packets(make_clip(tmp_path / "a.mp4", [("red", 2.0)], sound=True))
    b = scan_packets(make_clip(tmp_path / "b.mp4", [("blue", 2.0)], sound=True))
    silent = scan_packets(make_clip(tmp_path / "c.mp4", [("red", 2.0)]))
    assert a.sound_digest == b.sound_digest is not None
    assert a.content_digest == silent.content_digest != b.content_digest
    assert silent.sound_digest is None


def test_hidden_frames_are_left_out(tmp_path: Path) -> None:
    whole = timecode_clip(tmp_path / "whole.mp4", steps(4), gop=100, bframes=0)
    hidden = edit(whole, tmp_path / "hidden.mp4", [(1.0, 3.0)])
    assert scan_packets(hidden).count == 75
    assert scan_packets(hidden).content_digest != scan_packets(whole).content_digest


def test_same_packets_at_other_times_are_other_content(tmp_path: Path) -> None:
    slow = [t * 1.5 for t in steps(2)]
    a = scan_packets(timecode_clip(tmp_path / "a.mp4", steps(2)))
    assert not same_timing(a.times_ms, [round(t * 1000) for t in slow])
    assert timed_content_id(a.content_digest, a.times_ms) != a.content_digest
    assert timed_content_id(a.content_digest, [0, 1]) != timed_content_id(a.content_digest, [0, 2])


def test_five_milliseconds_are_the_same_time_and_six_are_not() -> None:
    assert same_timing([0, 40, 80], [0, 45, 75])
    assert not same_timing([0, 40, 80], [0, 46, 80])
    assert not same_timing([0, 40], [0, 40, 80])


@given(st.lists(st.integers(0, 10**8)).map(sorted))
def test_packed_times_come_back(times: list[int]) -> None:
    assert timing_times(timing_blob(times)) == times


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=6), st.integers(1, 4))
def test_both_framings_hold_the_same_units(parts: list[bytes], width: int) -> None:
    units = [b"\x65" + p.replace(b"\0", b"\1") for p in parts]
    framed = b"".join(len(u).to_bytes(width, "big") + u for u in units)
    marked = b"".join(b"\0\0\0\1" + u for u in units)
    assert [framed[a:b] for a, b in _by_length(framed, width)] == units
    assert [marked[a:b].rstrip(b"\0") for a, b in _by_start_code(marked)] == units


def test_a_file_is_its_bytes(tmp_path: Path) -> None:
    a, b = tmp_path / "a.bin", tmp_path / "b.bin"
    a.write_bytes(np.arange(100_000, dtype=np.uint8).tobytes())
    b.write_bytes(a.read_bytes())
    assert file_digest(a) == file_digest(b)
    assert len(file_digest(a)) == 32
    b.write_bytes(a.read_bytes() + b"x")
    assert file_digest(a) != file_digest(b)
    with pytest.raises(MediaError, match="cannot be read"):
        file_digest(tmp_path / "c.bin")
