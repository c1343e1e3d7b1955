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
from reeldb.media.intact import is_torn, missing_bytes
from reeldb.media.packets import PacketReader, VideoPacket, is_shown
from reeldb.schema.counts import counted

_INDEXED = "mov"


class Damage:
    """Counts while a stream is decoded; `lost`, `found` and `note` hold after `finish`."""

    def __init__(
        self, path: str | os.PathLike[str], stream: VideoStream, packets: PacketReader
    ) -> None:
        self.path, self.stream, self.packets = path, stream, packets
        self.codec = stream.codec_context.codec.canonical_name
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
        if not is_shown(packet, self.codec):
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

    def finish(self, start_s: float, duration_s: float, *, complete: bool) -> None:
        """Weighs what was counted; `complete` unless only keyframes were decoded."""
        undecoded = max(0, self.expected - self._shown - self._fields) if complete else 0
        cut_off = self._cut_off()
        places = self.packets.errors + self._torn()
        hurt = bool(cut_off or undecoded or self.errors or self._repaired or places)
        unread = self._unread() or (self._promised(max(0.0, start_s) + duration_s) if hurt else 0)
        swallowed = self._swallowed() if hurt else 0
        self.lost = undecoded + unread + swallowed
        told = self._told(undecoded, unread, swallowed, cut_off, duration_s)
        self.note = "; ".join(told or (["the file is damaged"] if hurt else []))

    def _told(
        self, undecoded: int, unread: int, swallowed: int, cut_off: bool, duration_s: float
    ) -> list[str]:
        told = []
        if cut_off or unread:
            how = "cut off at" if cut_off else "readable only until"
            missing = counted(unread, "picture")
            told.append(f"{how} {duration_s:.2f} s, about {missing} missing")
        if undecoded:
            told.append(f"{undecoded} of {counted(self.expected, 'picture')} not decodable")
        elif self.errors:
            told.append(f"{counted(self.errors, 'packet')} not decodable")
        if self._repaired:
            told.append(f"{counted(self._repaired, 'picture')} with damage")
        if swallowed:
            told.append(f"about {counted(swallowed, 'picture')} swallowed by damage")
        if self.packets.errors:
            told.append(f"{counted(self.packets.errors, 'place')} in the file not readable")
        return told

    def _cut_off(self) -> bool:
        try:
            return missing_bytes(self.path) > 0
        except OSError:
            return False  # it was deleted while it was read

    def _torn(self) -> int:
        """1 where packets are broken off. In a transport stream that alone may only mean that it
        was joined or begins in the middle, so there the file itself is looked at."""
        if self.stream.container.format.name != "mpegts":
            return int(self.packets.corrupt > 0)
        suspicious = self.packets.corrupt or 0 < self.packets.gaps <= self._few
        try:
            return int(bool(suspicious) and is_torn(self.path))
        except OSError:
            return 0

    @property
    def _few(self) -> int:
        """Up to how many gaps in time are gaps; more are a variable picture rate."""
        return max(3, self.packets.read // 20)

    def _swallowed(self) -> int:
        """Packets that would fill the gaps in time."""
        return self.packets.missing if self.packets.gaps <= self._few else 0

    def _unread(self) -> int:
        """Packets that the file's own index lists and that were not there."""
        if not self.stream.container.format.name.startswith(_INDEXED):
            return 0
        return max(0, len(self.stream.index_entries) - self.packets.read)

    def _promised(self, end_s: float) -> int:
        """An estimate for files without an index: from the end that their header promises."""
        promised = header_duration_s(self.stream) or 0.0
        missing = round((promised - end_s) * float(frame_rate(self.stream)))
        return missing if missing > 1 else 0  # headers round, and may count a sound that is longer
