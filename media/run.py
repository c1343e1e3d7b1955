"""One decode of a file from some place on: the picture now shown, and the one after it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple, Self

import av
from av.video.frame import VideoFrame

from reeldb.media.decode import Decoding, drain
from reeldb.media.packets import VideoPacket, demux, seconds
from reeldb.media.track import Keyframe

_BACK_S = (0, 1, 5, 25)  # transport streams land late: how far before the keyframe to look


class Picture(NamedTuple):
    """A frame and when it is shown, in seconds from the file's first picture."""

    t_s: float
    frame: VideoFrame


class Run:
    """`now` is the picture shown, `following` the next one or None at the end."""

    def __init__(self, decoding: Decoding, pictures: Iterator[Picture], now: Picture) -> None:
        self.decoding = decoding
        self.now = now
        self.following = next(pictures, None)
        self._pictures = pictures

    @classmethod
    def from_start(cls, decoding: Decoding) -> Self:
        """The sequential decode. Raises MediaError where no picture can be decoded."""
        pictures = (Picture(s.t_s, s.frame) for s in decoding)
        return cls(decoding, pictures, next(pictures))

    @property
    def position(self) -> int:
        """How many packets of the stream lie before the next one to be decoded."""
        return self.decoding.packets.read

    def go_to(self, limit_s: float) -> VideoFrame:
        """Decodes on to the last picture shown at or before that time."""
        while self.following is not None and self.following.t_s <= limit_s:
            self.now, self.following = self.following, next(self._pictures, None)
        return self.now.frame


class KeyframeRun(Run):
    """A decode that begins at a keyframe instead of at the start of the file."""

    def __init__(
        self, decoding: Decoding, pictures: Iterator[Picture], now: Picture, fed: list[int]
    ) -> None:
        super().__init__(decoding, pictures, now)
        self._fed = fed

    @classmethod
    def from_key(cls, decoding: Decoding, key: Keyframe) -> Self | None:
        """None where the keyframe cannot be reached or the decoder does not begin with it."""
        fed = [key.at]
        pictures = _pictures(decoding, key, fed)
        now = next(pictures, None)
        return None if now is None else cls(decoding, pictures, now, fed)

    @property
    def position(self) -> int:
        return self._fed[0]


def _pictures(decoding: Decoding, key: Keyframe, fed: list[int]) -> Iterator[Picture]:
    packets = _land(decoding, key)
    start = next(packets, None)
    if start is None or start.pts is None:
        return
    last: int | None = None
    for frame in _decode(decoding, chain((start,), packets), fed):
        pts = frame.pts
        if pts is None or pts < start.pts:
            continue  # pictures before the keyframe need the one before it
        if last is None and pts != start.pts:
            return
        last = pts if last is None or pts > last else last + 1
        yield Picture(seconds(last - decoding.origin, decoding.packets.tick), frame)


def _decode(
    decoding: Decoding, packets: Iterator[VideoPacket], fed: list[int]
) -> Iterator[VideoFrame]:
    for packet in packets:
        fed[0] += 1
        try:
            yield from decoding.codec.decode(packet)
        except av.FFmpegError:
            continue
    yield from drain(decoding.codec)


def _land(decoding: Decoding, key: Keyframe) -> Iterator[VideoPacket]:
    """The packets of the file from this keyframe on, or none where it cannot be found."""
    container, stream = decoding.container, decoding.stream
    for back_s in _BACK_S:
        try:
            container.seek(key.dts - round(back_s / decoding.packets.tick), stream=stream)
            decoding.codec.flush_buffers()
            packets = demux(container, stream)
            for packet in packets:
                if _is(packet, key):
                    yield packet
                    yield from packets
                    return
                if _past(packet, key):
                    break
        except av.FFmpegError:
            return


def _is(packet: VideoPacket, key: Keyframe) -> bool:
    if not packet.is_keyframe or packet.is_discard:
        return False
    return packet.dts == key.dts if key.pts is None else packet.pts == key.pts


def _past(packet: VideoPacket, key: Keyframe) -> bool:
    if key.pts is None:
        return packet.dts is not None and packet.dts > key.dts
    return packet.is_keyframe and packet.pts is not None and packet.pts > key.pts
