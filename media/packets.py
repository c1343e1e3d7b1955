"""The packets of one stream in file order, on one clock that never goes back.

Joined recordings restart their timestamps, damaged files have wild ones. Timestamps are set
right here, before anything is decoded, so that the decode, the identity and the pictures by
time all count on the same clock:

- where a stream restarts, the clock goes on from the last end;
- packets that leap ahead and come back keep their place;
- a leap of more than `ABSURD_S` is a restart, not a pause.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import av
from av.container import InputContainer
from av.packet import Packet
from av.video.stream import VideoStream

from reeldb.media.headers import frame_rate

VideoPacket: TypeAlias = "Packet[VideoStream]"

LEAP_S = 10.0
ABSURD_S = 6 * 3600.0
_BACK_S = 1.0
_AHEAD_PACKETS = 250
_READ_ERRORS = 1000
_TOO_SHORT = 10


@dataclass(frozen=True, slots=True)
class Restart:
    """From the `at`-th packet of the stream on, its own timestamps are moved by `offset` ticks."""

    at: int
    offset: int


class PacketReader:
    """Iterates over a stream's packets. Read errors are counted, not raised.

    `read` counts packets with data, `errors` failed reads, `corrupt` packets that the demuxer
    calls damaged, `pulled` wild timestamps, `gaps` jumps in time and `missing` the packets that
    would fill them; `restarts` lists where the clock was carried on. Packets of the streams in
    `aside` are handed to their functions as they come by, on the file's own clock.
    """

    def __init__(
        self,
        container: InputContainer,
        stream: VideoStream,
        aside: Mapping[Any, Callable[[Packet[Any]], None]] | None = None,
    ) -> None:
        self.container, self.stream = container, stream
        self._aside = {other.index: take for other, take in (aside or {}).items()}
        self._streams = (stream, *(aside or ()))
        self.tick = stream.time_base or Fraction(1, 1000)
        self.step = max(1, round(1 / (frame_rate(stream) * self.tick)))
        # In ticks: fractions are slow, and this is asked of every packet.
        self._leap, self._absurd, self._back = (
            round(limit_s / self.tick) for limit_s in (LEAP_S, ABSURD_S, _BACK_S)
        )
        self.read = self.errors = self.corrupt = self.pulled = self.gaps = self.missing = 0
        self.restarts: list[Restart] = []
        self._last: int | None = None  # the newest timestamp, as the file has it
        # The two latest shown times and how long the latest says it lasts, on our clock.
        self._latest: int | None = None
        self._before: int | None = None
        self._length = 0
        self._shortest = 0  # the smallest step between two timestamps in file order
        self._offset = 0
        self._ahead: deque[VideoPacket] = deque()
        self._source = self._demux()

    @property
    def end(self) -> int | None:
        """When the last picture so far stops being shown, in ticks; None without timestamps."""
        if self._latest is None:
            return None
        before = self.step if self._before is None else self._latest - self._before
        return self._latest + picture_length(self._length, before, self._shortest or before)

    def __iter__(self) -> Iterator[VideoPacket]:
        while (packet := self._next()) is not None:
            self._place(packet)
            yield packet

    def _next(self) -> VideoPacket | None:
        return self._ahead.popleft() if self._ahead else next(self._source, None)

    def _demux(self) -> Iterator[VideoPacket]:
        failed = 0
        while failed < _READ_ERRORS:
            try:
                for packet in self.container.demux(self._streams):
                    if not packet.size:  # AVI repeats a picture with an empty packet
                        continue
                    failed = 0
                    if packet.stream_index != self.stream.index:
                        self._aside[packet.stream_index](packet)
                        continue
                    self.read += 1
                    self.corrupt += packet.is_corrupt
                    yield packet
                return
            except av.FFmpegError:
                failed += 1
                self.errors += 1

    def _place(self, packet: VideoPacket) -> None:
        stamp = packet.dts  # the first packets of a Matroska file may have none
        if stamp is None or packet.is_discard:
            _move(packet, self._offset)
            if packet.pts is not None and not packet.is_discard:
                self._note(packet.pts, packet)
            return
        if self._last is not None:
            if self._leaps(stamp, self._last) and self._returns(self._last):
                stamp = self._pull_back(packet, self._last)
            elif self._restarts(packet, stamp, self._last):
                shown = packet.pts if packet.pts is not None else stamp
                self._offset = (self.end or 0) - shown
                at = self.read - len(self._ahead) - 1
                self.restarts.append(Restart(at, self._offset))
            elif stamp > self._last:
                self._measure(stamp - self._last, packet.duration or self.step)
        self._last = stamp
        _move(packet, self._offset)
        self._note(packet.pts if packet.pts is not None else stamp + self._offset, packet)

    def _measure(self, step: int, usual: int) -> None:
        self._shortest = min(self._shortest or step, step)
        if 1.5 * usual < step <= self._leap:
            self.gaps += 1
            self.missing += round(step / usual) - 1

    def _note(self, shown: int, packet: VideoPacket) -> None:
        if self._latest is None or shown > self._latest:
            self._before, self._latest = self._latest, shown
            self._length = packet.duration or 0
        elif self._before is None or self._before < shown < self._latest:
            self._before = shown

    def _restarts(self, packet: VideoPacket, stamp: int, last: int) -> bool:
        back = last - stamp
        if packet.is_keyframe and back > 1.5 * self.step:
            return True
        return back > self._back or -back > self._absurd

    def _leaps(self, stamp: int, last: int) -> bool:
        return stamp - last > self._leap

    def _returns(self, last: int) -> bool:
        """Whether one of the packets to come is back where this one should have been."""
        if any(self._fits(packet, last) for packet in self._ahead):
            return True
        while len(self._ahead) < _AHEAD_PACKETS:
            packet = next(self._source, None)
            if packet is None:
                return False
            self._ahead.append(packet)
            if self._fits(packet, last):
                return True
        return False

    def _fits(self, packet: VideoPacket, last: int) -> bool:
        stamp = packet.dts
        return stamp is not None and 0 <= stamp - last <= self._leap

    def _pull_back(self, packet: VideoPacket, last: int) -> int:
        """Gives a packet that leapt ahead the place after the one before it."""
        self.pulled += 1
        stamp = last + (packet.duration or self.step)
        packet.pts = (
            stamp
            if packet.dts is None or packet.pts is None
            else (stamp + max(0, min(packet.pts - packet.dts, 16 * self.step)))
        )
        packet.dts = stamp
        return stamp


def is_shown(packet: VideoPacket, codec: str) -> bool:
    """Whether the packet becomes a picture: edit lists hide some, VP8 has invisible ones."""
    return not packet.is_discard and (codec != "vp8" or bool(memoryview(packet)[0] & 0x10))


def picture_length(told: int, before: int, shortest: int) -> int:
    """How long the last picture is shown, in ticks: what its packet tells, else as long as
    the one before it. Some muxers write 1 ms: what is far below the shortest interval of the
    stream is not believed."""
    return told if told * _TOO_SHORT >= shortest else before


def seconds(ticks: int, tick: Fraction) -> float:
    """The correctly rounded number of seconds."""
    return ticks * tick.numerator / tick.denominator


def _move(packet: VideoPacket, offset: int) -> None:
    if offset:
        if packet.pts is not None:
            packet.pts += offset
        if packet.dts is not None:
            packet.dts += offset
