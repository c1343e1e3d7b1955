"""Every shown picture of a file in order, once, whatever the file is like."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import av
from av.codec.context import ThreadType
from av.container import InputContainer
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from reeldb.media.container import keep_only, open_media, pick_video, shown_path
from reeldb.media.damage import Damage
from reeldb.media.packets import PacketReader, picture_length, seconds
from reeldb.schema.errors import MediaError

_FRAMES_IN_FLIGHT_BYTES = 400_000_000


@dataclass(slots=True)
class Shown:
    """One picture: `t_s` seconds after the first one, until the next one's `t_s`."""

    t_s: float
    frame: VideoFrame
    key: bool
    index: int


class Decoding:
    """Iterates over the pictures of a file's video stream, in the order they are shown.

    `t_s` always grows. Packets that cannot be decoded are left out and counted. After the
    last picture: `duration_s`, `frame_count`, `lost_frames`, `damaged`, `note` (why), and
    `start_pts_s`, the file's own time of the first picture. With `keyframes_only` nothing
    else is decoded, but durations and counts are still those of the whole stream.

    Raises MediaError where the file cannot be opened or not one picture can be decoded.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        threads: int = 0,
        keyframes_only: bool = False,
    ) -> None:
        self.path = path
        self.keyframes_only = keyframes_only
        self.container: InputContainer = open_media(path)
        try:
            self.stream: VideoStream = pick_video(self.container)
            keep_only(self.container, self.stream)
            self.codec = decoder(self.stream, threads)
        except BaseException:
            self.container.close()
            raise
        self.packets = PacketReader(self.container, self.stream)
        self.damage = Damage(path, self.stream, self.packets)
        self.duration_s = 0.0
        self.frame_count = 0
        self.start_pts_s = 0.0
        self.origin = 0  # the time of the first picture, in ticks of `packets.tick`
        self._first: int | None = None
        self._last = self._step = self.packets.step
        self._shortest = 0
        self._length = 0  # of the newest picture, in ticks, as its packet tells it

    @property
    def lost_frames(self) -> int:
        return self.damage.lost

    @property
    def damaged(self) -> bool:
        return self.damage.found

    @property
    def note(self) -> str:
        return self.damage.note

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.packets.close()
        self.container.close()

    def __iter__(self) -> Iterator[Shown]:
        for frame in self._frames():
            yield self._show(frame)
        self._finish()

    def _frames(self) -> Iterator[VideoFrame]:
        decode, expect = self.codec.decode, self.damage.expect
        for packet in self.packets:
            expect(packet)
            if self.keyframes_only:
                if not packet.is_keyframe:
                    continue
                if packet.pts is None:  # in a raw stream, keyframes are where they are counted
                    packet.pts = self.packets.at * self.packets.step
            try:
                frames = decode(packet)
            except av.FFmpegError:
                self.damage.errors += 1
                continue
            yield from frames
        yield from drain(self.codec)

    def _show(self, frame: VideoFrame) -> Shown:
        pts = frame.pts
        if self._first is None:
            self._first = pts = pts if pts is not None else 0
            self.origin = pts
            self.start_pts_s = float(pts * self.packets.tick)
            self.damage.began(pts)
        elif pts is None:
            pts = self._last + self._step  # raw streams carry no times
        elif pts <= self._last:
            pts = self._last + 1  # out of order, in damaged streams: still shown
        else:
            self._step = pts - self._last
            if self._step < self._shortest or not self._shortest:
                self._shortest = self._step
        self._last, self._length = pts, frame.duration
        self.damage.shown(frame)
        index = self.frame_count
        self.frame_count += 1
        return Shown(seconds(pts - self._first, self.packets.tick), frame, frame.key_frame, index)

    def _finish(self) -> None:
        if self._first is None:
            raise MediaError(
                f"{shown_path(self.path)}: not one picture could be decoded from its "
                f"{self.codec.codec.canonical_name} stream ({self.packets.read} packets); it is "
                "damaged, encrypted or only the beginning of a recording"
            )
        if self.keyframes_only:
            self.frame_count = self.damage.expected
            untimed = self._first + self.packets.read * self.packets.step
            end = max(self._last + 1, self.packets.end or untimed)
        else:
            shortest = self._shortest or self._step
            end = self._last + picture_length(
                self._length, self._step, shortest, self.packets.absurd
            )
        self.duration_s = seconds(end - self._first, self.packets.tick)
        self.damage.finish(self.start_pts_s, self.duration_s, complete=not self.keyframes_only)


def decoder(stream: VideoStream, threads: int = 0) -> VideoCodecContext:
    """The stream's decoder with frame threads (0: one for each core, fewer for pictures so
    large that those in flight would fill the memory)."""
    codec = stream.codec_context
    if stream.metadata.get("alpha_mode") == "1" and codec.codec.canonical_name == "vp9":
        codec = av.CodecContext.create("libvpx-vp9", "r")  # the native one drops the alpha
    picture = max(1, codec.width * codec.height * 3 // 2)
    most = max(1, _FRAMES_IN_FLIGHT_BYTES // picture)
    codec.thread_count = min(threads or os.cpu_count() or 1, most, 16)
    codec.thread_type = ThreadType.AUTO
    return codec


def drain(codec: VideoCodecContext) -> Iterator[VideoFrame]:
    """The pictures that are still inside the decoder, past any error in one of them."""
    for _ in range(64):
        try:
            yield from codec.decode(None)
            return
        except av.EOFError:
            return
        except av.FFmpegError:
            continue
