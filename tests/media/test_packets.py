from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import av
import pytest
from av.container import InputContainer
from av.packet import Packet
from av.video.stream import VideoStream

from reeldb.media.convert import to_rgb
from reeldb.media.decode import Decoding
from reeldb.media.intact import has_fragments, is_torn, missing_bytes
from reeldb.media.packets import PacketReader, picture_length
from tests.clips import join, make_clip, read_timecode, steps, timecode_clip, truncate

STEP = 40


class Source:
    """A container of one millisecond stream at 25 pictures a second; `None` is a read error."""

    def __init__(self, stamps: Iterable[int | None], every: int = 10) -> None:
        self.stamps, self.every = iter(list(stamps)), every
        self.format = SimpleNamespace(name="matroska,webm")
        self.stream = SimpleNamespace(
            index=0, time_base=Fraction(1, 1000), average_rate=Fraction(25), guessed_rate=None
        )

    def demux(self, *streams: object) -> Iterator[Packet[Any]]:
        for at, stamp in enumerate(self.stamps):
            if stamp is None:
                raise av.InvalidDataError(1, "broken", "clip")
            packet = Packet(b"x")
            packet.pts = packet.dts = stamp
            packet.duration = STEP
            packet.is_keyframe = at % self.every == 0
            yield packet


def read(stamps: Iterable[int | None], every: int = 10) -> tuple[PacketReader, list[int | None]]:
    source = Source(stamps, every)
    reader = PacketReader(cast(InputContainer, source), cast(VideoStream, source.stream))
    return reader, [packet.pts for packet in reader]


def ramp(n: int, start: int = 0) -> list[int]:
    return [start + i * STEP for i in range(n)]


def test_timestamps_that_rise_stay_as_they_are() -> None:
    reader, placed = read(ramp(30, 500))
    assert placed == ramp(30, 500)
    assert (reader.end, reader.restarts, reader.gaps) == (500 + 30 * STEP, [], 0)


@pytest.mark.parametrize("start", [0, 200, 1000])
def test_a_restart_goes_on_from_the_last_end(start: int) -> None:
    reader, placed = read(ramp(50, 1000) + ramp(50, start))
    assert placed == ramp(100, 1000)
    assert [restart.at for restart in reader.restarts] == [50]


def test_a_clock_that_wraps_around_goes_on() -> None:
    top = 2**33 // 90
    _, placed = read([*ramp(20, top), *ramp(20, 3)])
    assert placed == ramp(40, top)


def test_a_leap_of_many_hours_is_a_restart_and_not_a_pause() -> None:
    _, placed = read([*ramp(20), *ramp(400, 90_000_000)])
    assert placed == ramp(420)


def test_a_pause_of_minutes_is_a_pause() -> None:
    stamps = [*ramp(20), *ramp(20, 300_000)]
    reader, placed = read(stamps)
    assert placed == stamps
    assert reader.missing == 0


def test_packets_that_leap_ahead_and_come_back_keep_their_place() -> None:
    stamps = ramp(60)
    stamps[20:25] = [s + 50_000_000 for s in stamps[20:25]]
    reader, placed = read(stamps)
    assert placed == ramp(60)
    assert (reader.pulled, reader.restarts) == (5, [])


def test_a_small_step_back_is_no_restart() -> None:
    stamps = ramp(30)
    stamps[15], stamps[16] = stamps[16], stamps[15]
    reader, _ = read(stamps)
    assert reader.restarts == []


def test_read_errors_are_counted_and_passed() -> None:
    reader, placed = read([*ramp(10), None, None, *ramp(10, 10 * STEP)])
    assert placed == ramp(20)
    assert reader.errors == 2


def test_a_source_that_only_fails_comes_to_an_end() -> None:
    reader, placed = read([None] * 5000)
    assert placed == []
    assert reader.errors == 1000


def test_gaps_are_measured_in_packets() -> None:
    reader, _ = read([*ramp(20), *ramp(20, 50 * STEP)])
    assert (reader.gaps, reader.missing) == (1, 30)


def test_the_last_picture_is_as_long_as_its_packet_or_the_one_before() -> None:
    usual = {"before": 500, "shortest": 40, "absurd": 10**6}
    assert picture_length(told=40, **usual) == 40
    assert picture_length(told=0, **usual) == 500
    assert picture_length(told=1, **usual) == 500
    assert picture_length(told=10**7, **usual) == 500


def test_a_picture_shown_absurdly_late_keeps_its_place() -> None:
    source = Source(ramp(30))
    packets = list(source.demux(()))
    packets[12].pts = 10**9
    source.demux = lambda *streams: iter(packets)  # type: ignore[method-assign]
    reader = PacketReader(cast(InputContainer, source), cast(VideoStream, source.stream))
    assert [packet.pts for packet in reader] == ramp(30)


def test_streams_that_turn_up_late_do_not_end_the_reading_with_an_error() -> None:
    source = Source(ramp(5))

    def stumbles(*streams: object) -> Iterator[Packet[Any]]:
        yield from Source(ramp(5)).demux(*streams)
        raise IndexError("list index out of range")

    source.demux = stumbles  # type: ignore[method-assign]
    reader = PacketReader(cast(InputContainer, source), cast(VideoStream, source.stream))
    assert len(list(reader)) == 5


def test_a_matroska_file_with_a_wild_cluster_keeps_its_length(tmp_path: Path) -> None:
    clip = timecode_clip(
        tmp_path / "clip.mkv", steps(6), gop=25, bframes=0, container={"cluster_time_limit": "900"}
    )
    data = bytearray(clip.read_bytes())
    clusters = [at for at in range(len(data)) if data[at : at + 4] == b"\x1f\x43\xb6\x75"]
    stamp = data.index(b"\xe7", clusters[2]) + 1  # the cluster's own time, 2 bytes from here
    assert data[stamp] == 0x82
    data[stamp + 1] |= 0xF0  # about a minute later
    (tmp_path / "wild.mkv").write_bytes(data)
    with Decoding(tmp_path / "wild.mkv") as decoding:
        seen = [(s.t_s, read_timecode(to_rgb(s.frame))) for s in decoding]
    assert decoding.duration_s == pytest.approx(6.0, abs=0.05)
    assert [t for t, _ in seen] == pytest.approx([code for _, code in seen], abs=0.05)


@pytest.mark.parametrize("kind", ["mp4", "mkv", "mov", "avi"])
def test_a_cut_file_lacks_as_much_as_was_cut(tmp_path: Path, kind: str) -> None:
    codec = "mpeg4" if kind == "avi" else "libx264"
    faststart = {"movflags": "faststart"} if kind in ("mp4", "mov") else None
    clip = make_clip(
        tmp_path / f"clip.{kind}", [("red", 2.0)], sound=True, codec=codec, container=faststart
    )
    assert missing_bytes(clip) == 0
    cut = truncate(clip, tmp_path / f"cut.{kind}", 0.7)
    lost = clip.stat().st_size - cut.stat().st_size
    assert missing_bytes(cut) == pytest.approx(lost, abs=lost // 5)


def test_fragments_and_torn_transport_streams_are_seen(tmp_path: Path) -> None:
    plain = make_clip(tmp_path / "plain.mp4", [("red", 1.0)])
    pieces = make_clip(
        tmp_path / "pieces.mp4",
        [("red", 1.0)],
        container={"movflags": "frag_keyframe+empty_moov+default_base_moof"},
    )
    assert (has_fragments(plain), has_fragments(pieces)) == (False, True)
    stream = make_clip(tmp_path / "a.ts", [("red", 1.0)])
    assert not is_torn(join([stream, stream], tmp_path / "joined.ts"))
    cut = truncate(stream, tmp_path / "cut.ts", 0.505)
    assert is_torn(join([cut, stream], tmp_path / "torn.ts"))
