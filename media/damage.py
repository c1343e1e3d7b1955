"""What is missing from a stream: packets expected, packets read, pictures shown.

A damaged file seldom says so. With frame threads a cut-off tail may raise no error at all,
and a truncated Matroska file just ends. So everything that should have become a picture is
counted, and compared with what did.
"""

from __future__ import annotations

import os

from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from reeldb.media.headers import frame_rate, header_duration_s
from reeldb.media.intact import missing_bytes
from reeldb.media.packets import PacketReader, VideoPacket

_INDEXED = "mov"


class Damage:
    """Counts while a stream is decoded; `lost`, `found` and `note` hold after `finish`."""

    def __init__(
        self, path: str | os.PathLike[str], stream: VideoStream, packets: PacketReader
    ) -> None:
        self.path, self.stream, self.packets = path, stream, packets
        self.vp8 = stream.codec_context.codec.canonical_name == "vp8"
        self.errors = 0
        self.expected = 0
        self.lost = 0
        self.note = ""
        self._shown = self._fields = self._repaired = 0
        self._early: list[int] | None = []  # times of packets before the first picture

    @property
    def found(self) -> bool:
        return bool(self.note)

    def expect(self, packet: VideoPacket) -> None:
        """Counts a packet that should become a picture."""
        if packet.is_discard or (self.vp8 and not memoryview(packet)[0] & 0x10):
            return
        self.expected += 1
        if self._early is not None and packet.pts is not None:
            self._early.append(packet.pts)

    def began(self, first_pts: int) -> None:
        """Packets before the first picture belong to a recording that began earlier: they
        were never meant to be shown alone, and are not lost."""
        self.expected -= sum(pts < first_pts for pts in self._early or ())
        self._early = None

    def shown(self, frame: VideoFrame) -> None:
        self._shown += 1
        if frame.is_corrupt:
            self._repaired += 1
        if frame.interlaced_frame:
            self._fields += 1  # two packets, one a field, may have become this one picture

    def finish(self, duration_s: float, *, complete: bool) -> None:
        """Weighs what was counted; `complete` unless only keyframes were decoded."""
        undecoded = max(0, self.expected - self._shown - self._fields) if complete else 0
        unread = self._unread()
        cut_off = missing_bytes(self.path) > 0
        if cut_off and not unread:
            unread = self._promised(duration_s)
        self.lost = undecoded + unread
        self.note = "; ".join(self._told(undecoded, unread, cut_off, duration_s))

    def _told(self, undecoded: int, unread: int, cut_off: bool, duration_s: float) -> list[str]:
        told = []
        if cut_off or unread:
            told.append(f"cut off at {duration_s:.2f} s, about {unread} pictures are missing")
        if undecoded:
            told.append(f"{undecoded} of {self.expected} pictures could not be decoded")
        elif self.errors:
            told.append(f"{self.errors} packets could not be decoded")
        if self._repaired:
            told.append(f"{self._repaired} pictures are damaged")
        if self.packets.errors or self.packets.corrupt:
            bad = self.packets.errors + self.packets.corrupt
            told.append(f"{bad} damaged places in the file")
        return told

    def _unread(self) -> int:
        """Packets that the file's own index lists and that were not there."""
        if not self.stream.container.format.name.startswith(_INDEXED):
            return 0
        return max(0, len(self.stream.index_entries) - self.packets.read)

    def _promised(self, duration_s: float) -> int:
        """An estimate for files without an index: from the length their header promises."""
        promised = header_duration_s(self.stream) or 0.0
        return max(0, round((promised - duration_s) * float(frame_rate(self.stream))))
