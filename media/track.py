"""Where decoding can begin in a file: its keyframes, and whether its clock can be trusted."""

from __future__ import annotations

import os
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from av.container import InputContainer
from av.video.stream import VideoStream

from reeldb.media.container import keep_only, open_media, pick_video
from reeldb.media.intact import has_fragments
from reeldb.media.packets import LEAP_S, PacketReader, seconds

_SEEKABLE = ("mov", "matroska", "mpegts", "mpeg", "avi", "flv", "asf", "nut", "ogg", "mxf")
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Keyframe:
    """The `at`-th packet of the stream, a place where decoding can begin; `pts` is None where
    only the file's index was read."""

    at: int
    dts: int
    pts: int | None


@dataclass(frozen=True, slots=True)
class Track:
    """The keyframes in file order, empty where the file must be read from its start: no
    seeking, missing or restarting timestamps, damage. `offsets_s` is how far the clock is moved
    after each restart."""

    keys: tuple[Keyframe, ...]
    offsets_s: tuple[float, ...] = ()

    def before(self, ticks: int) -> list[Keyframe]:
        """Where decoding can begin for the picture shown at that time, the nearest first."""
        near = bisect_right(self.keys, ticks, key=lambda k: k.dts if k.pts is None else k.pts)
        return list(self.keys[max(0, near - 4) : near][::-1])


def track(path: str | os.PathLike[str]) -> Track:
    """The track of the file's video stream; kept while the file does not change."""
    facts = Path(path).stat()
    return _track(os.fspath(path), facts.st_size, facts.st_mtime_ns, facts.st_ino)


@lru_cache(maxsize=_KEPT)
def _track(path: str, size: int, mtime_ns: int, inode: int) -> Track:
    with open_media(path) as container:
        stream = pick_video(container)
        if not container.format.name.startswith(_SEEKABLE):
            return Track(())
        listed = None
        if container.format.name.startswith("mov") and not has_fragments(path):
            listed = _from_index(stream)
        return listed or _from_packets(container, stream)


def _from_index(stream: VideoStream) -> Track | None:
    """From the table in the file, without reading its packets; None where it is not simple."""
    keys: list[Keyframe] = []
    last = None
    leap = LEAP_S / (stream.time_base or 1)
    for at, entry in enumerate(stream.index_entries):
        if entry.is_discard:
            continue
        if last is not None and not 0 < entry.timestamp - last <= leap:
            return None
        last = entry.timestamp
        if entry.is_keyframe:
            keys.append(Keyframe(at, last, None))
    return Track(tuple(keys)) if keys else None


def _from_packets(container: InputContainer, stream: VideoStream) -> Track:
    keep_only(container, stream)
    reader = PacketReader(container, stream)
    keys: list[Keyframe] = []
    latest = None
    for at, packet in enumerate(reader):
        pts = packet.pts
        if pts is None:
            return Track(())
        # A picture that comes before the keyframe in the file but is shown after it would be
        # missing from what is decoded from there on.
        if packet.is_keyframe and not packet.is_discard and (latest is None or pts > latest):
            keys.append(Keyframe(at, packet.dts if packet.dts is not None else pts, pts))
        latest = pts if latest is None else max(latest, pts)
    if reader.restarts or reader.errors or reader.pulled:
        return Track((), tuple(seconds(r.offset, reader.tick) for r in reader.restarts))
    return Track(tuple(keys))
