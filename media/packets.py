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
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import av
from av.container import InputContainer
from av.packet import Packet
from av.stream import Stream
from av.video.stream import VideoStream

from reeldb.media.headers import DEFAULT_RATE, frame_rate

VideoPacket: TypeAlias = "Packet[VideoStream]"

LEAP_S = 10.0
ABSURD_S = 6 * 3600.0
_BACK_S = 1.0
_AHEAD_PACKETS = 250
_READ_ERRORS = 1000
_RAW = ("h264", "hevc", "vvc")  # streams without times: FFmpeg makes some up from their headers
_TOO_SHORT = 10
_LONGEST_TICK_S = 60


@dataclass(frozen=True, slots=True)
class Restart:
    """From the `at`-th packet of the stream on, its own timestamps are moved by `offset` ticks."""

    at: int
    offset: int


class PacketReader:
    """Iterates over a stream's packets. Read errors are counted, not raised.

    `read` counts packets with data, `errors` failed reads, `corrupt` packets that the demuxer
    calls damaged, `pulled` wild timestamps, `gaps` jumps in time and `missing` the packets that
    would fill them; `restarts` lists where the clock was carried on; `absurd` is a length in
    ticks that no pause has. Packets of the streams in `aside` are handed to their functions as
    they come by, on the file's own clock.
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
        self._raw = container.format.name in _RAW
        self.tick = _sane_tick(stream)
        self.step = max(1, round(1 / (frame_rate(stream) * self.tick)))
        # In ticks: fractions are slow, and this is asked of every packet.
        self._leap, self.absurd, self._back = (
            round(limit_s / self.tick) for limit_s in (LEAP_S, ABSURD_S, _BACK_S)
        )
        self.read = self.errors = self.corrupt = self.pulled = self.gaps = self.missing = 0
        self.restarts: list[Restart] = []
        self._last: int | None = None  # the newest timestamp, as the file has it
        # The two latest shown times and how long the latest says it lasts, on our clock.
        self._latest: int | None = None
        self._before: int | None = None
        self._length = 0
        self._shortest = self._longest = 0  # steps between two timestamps in file order
        self._delay = 0  # from when a packet is decoded to when it is shown
        self._offset = 0
        self._ahead: deque[VideoPacket] = deque()
        self._source = self._demux()

    @property
    def at(self) -> int:
        """The number of the packet that was read last."""
        return self.read - len(self._ahead) - 1

    @property
    def end(self) -> int | None:
        """When the last picture so far stops being shown, in ticks; None without timestamps."""
        if self._latest is None:
            return None
        before = self.step if self._before is None else self._latest - self._before
        shortest = self._shortest or before
        return self._latest + picture_length(self._length, before, shortest, self.absurd)

    def __iter__(self) -> Iterator[VideoPacket]:
        while (packet := self._next()) is not None:
            self._place(packet)
            yield packet

    def close(self) -> None:
        """Lets go of the container; a reader left in the middle would hold it until the garbage
        collector comes by."""
        self._source.close()
        self._ahead.clear()

    def _next(self) -> VideoPacket | None:
        return self._ahead.popleft() if self._ahead else next(self._source, None)

    def _demux(self) -> Generator[VideoPacket]:
        for packet in demux_on(self.container, *self._streams, failed=self._failed):
            if packet.stream_index != self.stream.index:
                self._aside[packet.stream_index](packet)
                continue
            self.read += 1
            self.corrupt += packet.is_corrupt
            if self._raw:
                packet.pts = packet.dts = None
            yield packet

    def _failed(self) -> None:
        self.errors += 1

    def _place(self, packet: VideoPacket) -> None:
        stamp = packet.dts  # the first packets of a Matroska file may have none
        if stamp is None or packet.is_discard:
            _move(packet, self._offset)
            if packet.pts is not None and not packet.is_discard:
                self._note(packet.pts, packet)
            return
        self._tame(packet, stamp)
        if self._last is not None:
            if self._leaps(stamp, self._last) and self._returns(self._last):
                stamp = self._pull_back(packet, self._last)
            elif self._restarts(packet, stamp, self._last):
                shown = packet.pts if packet.pts is not None else stamp
                self._offset = (self.end or 0) - shown
                self.restarts.append(Restart(self.at, self._offset))
            elif stamp > self._last:
                self._measure(stamp - self._last, packet.duration or self.step)
        self._last = stamp
        _move(packet, self._offset)
        self._note(packet.pts if packet.pts is not None else stamp + self._offset, packet)

    def _tame(self, packet: VideoPacket, stamp: int) -> None:
        """Gives a picture that would be shown absurdly far from where it is stored the delay of
        the one before it."""
        if packet.pts is None:
            return
        delay = packet.pts - stamp
        if self._longest and abs(delay) > self._leap + 20 * self._longest:
            packet.pts = stamp + self._delay
            self.pulled += 1
        else:
            self._delay = delay

    def _measure(self, step: int, usual: int) -> None:
        self._shortest = min(self._shortest or step, step)
        self._longest = max(self._longest, step)
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
        return back > self._back or -back > self.absurd

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


def demux(container: InputContainer, *streams: Stream) -> Iterator[Packet[Any]]:
    """The packets of these streams that hold data, in file order.

    Empty ones are left out: AVI repeats a picture with one, and PyAV flushes with them.
    """
    try:
        for packet in container.demux(*streams):
            if packet.size:
                yield packet
    except IndexError:
        return  # PyAV 18 stumbles at the end over streams that turned up while it was reading


def demux_on(
    container: InputContainer, *streams: Stream, failed: Callable[[], None] | None = None
) -> Iterator[Packet[Any]]:
    """`demux`, going on after places that cannot be read; `failed` is called for each."""
    failures = 0
    while failures < _READ_ERRORS:
        try:
            for packet in demux(container, *streams):
                failures = 0
                yield packet
            return
        except av.FFmpegError:
            failures += 1
            if failed is not None:
                failed()


def is_shown(packet: VideoPacket, codec: str) -> bool:
    """Whether the packet becomes a picture: edit lists hide some, VP8 has invisible ones."""
    return not packet.is_discard and (codec != "vp8" or bool(memoryview(packet)[0] & 0x10))


def picture_length(told: int, before: int, shortest: int, absurd: int) -> int:
    """How long the last picture is shown, in ticks: what its packet tells, else as long as
    the one before it. Some muxers write 1 ms and broken headers hours: what is far below the
    shortest interval of the stream, or `absurd`, is not believed."""
    return told if told * _TOO_SHORT >= shortest and told < absurd else before


def seconds(ticks: int, tick: Fraction) -> float:
    """The correctly rounded number of seconds."""
    return ticks * tick.numerator / tick.denominator


def _sane_tick(stream: VideoStream) -> Fraction:
    """The stream's unit of time; where a broken header makes it minutes, 25 pictures a second."""
    tick = stream.time_base
    return tick if tick and 0 < tick <= _LONGEST_TICK_S else 1 / DEFAULT_RATE


def _move(packet: VideoPacket, offset: int) -> None:
    if offset:
        if packet.pts is not None:
            packet.pts += offset
        if packet.dts is not None:
            packet.dts += offset
