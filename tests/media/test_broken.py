"""Files broken at random: nothing but MediaError, no absurd length, always an end."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from reeldb.media.decode import Decoding
from reeldb.media.identity import scan_packets
from reeldb.media.pictures import pictures_at
from reeldb.media.probe import probe
from reeldb.media.sound import has_sound, sound
from reeldb.media.subtitles import cues
from reeldb.schema.errors import MediaError
from tests.clips import steps, timecode_clip

KINDS: dict[str, dict[str, Any]] = {
    "mp4": {"sound": True},
    "mkv": {"sound": True},
    "ts": {"sound": True},
    "flv": {"sound": True},
    "avi": {"codec": "mpeg4"},
    "webm": {"codec": "libvpx-vp9"},
    "frag.mp4": {"container": {"movflags": "frag_keyframe+empty_moov"}},
}
TRIES = 12


def cut(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(1, len(data)) :]


def noise(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    stop = min(len(data), start + rng.randrange(1, len(data) // 3))
    data[start:stop] = rng.randbytes(stop - start)


def specks(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.randrange(1, 30)):
        data[rng.randrange(len(data))] = rng.randrange(256)


def header(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.randrange(1, 12)):
        data[rng.randrange(min(len(data), 800))] = rng.randrange(256)


def hole(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    del data[start : start + rng.randrange(1, 2000)]


BREAKS: tuple[Callable[[bytearray, random.Random], None], ...] = (cut, noise, specks, header, hole)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_file_is_read_as_far_as_it_goes_or_refused(tmp_path: Path, kind: str) -> None:
    whole = timecode_clip(tmp_path / f"whole.{kind}", steps(2), gop=12, **KINDS[kind]).read_bytes()
    read = refused = 0
    for seed in range(TRIES):
        rng = random.Random(f"{kind} {seed}")
        data = bytearray(whole)
        BREAKS[seed % len(BREAKS)](data, rng)
        file = tmp_path / f"broken{seed}.{kind}"
        file.write_bytes(data)
        try:
            _read_all(file)
            read += 1
        except MediaError as error:
            assert "\n" not in str(error)
            refused += 1
    assert read + refused == TRIES
    assert read >= 3


def _read_all(file: Path) -> None:
    probe(file)
    with Decoding(file) as decoding:
        shown = [one.t_s for one in decoding]
    assert all(b > a for a, b in pairwise(shown))
    assert shown[-1] < decoding.duration_s < 3600
    assert decoding.lost_frames == 0 or decoding.damaged
    assert scan_packets(file).count > 0
    assert len(pictures_at(file, [1.9, 0.5, 50.0])) == 3
    if has_sound(file):
        assert len(sound(file, 0, 1)) == 16_000
    assert cues(file) == []
