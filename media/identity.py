"""What a file is: the digest of its bytes, and of what it shows, whatever it is packed in.

The content digest covers the packets of the chosen video stream (those that an edit list
hides left out; of H.264 and HEVC the slices only), how the picture is turned and how large
it is shown. It does not cover times: those are compared by `same_timing`.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from av.audio.stream import AudioStream
from av.packet import Packet

from reeldb.media.container import keep_only, open_media, pick_sound, pick_video, shown_path
from reeldb.media.packets import ABSURD_S, PacketReader, is_shown, seconds
from reeldb.media.payload import Payload, payload_of
from reeldb.media.probe import Probe, probe
from reeldb.schema.digests import ID_BYTES, digest
from reeldb.schema.errors import MediaError

SAME_MS = 5
_SCHEME = "content-1"


@dataclass(frozen=True, slots=True)
class Packets:
    """What one pass over a file's packets tells, without decoding them.

    `times_ms` are the times at which pictures are shown, from the first one on, in rising
    order; `count` is how many there are. `sound_start_s` is when the sound begins, after the
    first picture; None where there is no sound or it has no times.
    """

    content_digest: str
    sound_digest: str | None
    times_ms: list[int]
    count: int
    duration_s: float
    sound_start_s: float | None = None


def file_digest(path: str | os.PathLike[str]) -> str:
    """The digest of the file's bytes. Raises MediaError where they cannot be read."""
    try:
        with Path(path).open("rb") as f:
            return hashlib.file_digest(f, _hasher).hexdigest()
    except OSError as error:
        raise MediaError(f"{shown_path(path)}: cannot be read: {error.strerror}") from error


def scan_packets(path: str | os.PathLike[str], facts: Probe | None = None) -> Packets:
    """The content and sound digests and the times of a file; `facts` if already probed.

    Raises MediaError where the file has no video that can be decoded.
    """
    facts = facts or probe(path)
    with open_media(path) as container:
        stream = pick_video(container)
        voice = pick_sound(container)
        keep_only(container, stream, *([voice] if voice else []))
        seen, heard = _hasher(), _hasher()
        begun: list[int] = []
        aside = {voice: _feed(heard, payload_of(voice), begun)} if voice else {}
        reader = PacketReader(container, stream, aside)
        payload, codec = payload_of(stream), facts.codec
        stamps: list[int] = []
        for packet in reader:
            if packet.is_discard:
                continue
            for part in payload(packet):
                seen.update(len(part).to_bytes(4, "little"))
                seen.update(part)
            if is_shown(packet, codec):
                stamps.append(_stamp(packet, len(stamps), reader.step))
    if not stamps:
        raise MediaError(f"{shown_path(path)}: holds no pictures; record or download it again")
    stamps.sort()
    first, end = stamps[0], reader.end
    length = end - first if end is not None else len(stamps) * reader.step
    shown = f"{facts.width}x{facts.height}/{facts.rotation}/{int(facts.mirrored)}"
    return Packets(
        digest(_SCHEME, codec, shown, seen.digest()),
        digest("sound-1", voice.codec_context.codec.canonical_name, heard.digest())
        if voice
        else None,
        _milliseconds(stamps, reader),
        len(stamps),
        seconds(length, reader.tick),
        _sound_start_s(voice, begun, seconds(first, reader.tick)),
    )


def same_timing(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two files show as many pictures at the same times, give or take `SAME_MS`."""
    if len(a) != len(b):
        return False
    return bool(np.all(np.abs(np.asarray(a, np.int64) - np.asarray(b, np.int64)) <= SAME_MS))


def timed_content_id(content: str, times_ms: Sequence[int]) -> str:
    """The content id of packets that another video shows at other times."""
    return digest(_SCHEME, content, _deltas(times_ms))


def timing_blob(times_ms: Sequence[int]) -> bytes:
    """The times, packed: zlib over the differences as little-endian 32-bit integers."""
    return zlib.compress(_deltas(times_ms), 6)


def timing_times(blob: bytes) -> list[int]:
    """The times that `timing_blob` packed."""
    deltas = np.frombuffer(zlib.decompress(blob), "<i4")
    times: list[int] = np.cumsum(deltas, dtype=np.int64).tolist()
    return times


def _deltas(times_ms: Sequence[int]) -> bytes:
    return np.diff(np.asarray(times_ms, np.int64), prepend=0).astype("<i4").tobytes()


def _milliseconds(stamps: list[int], reader: PacketReader) -> list[int]:
    tick_ms = reader.tick * 1000
    offsets = np.asarray(stamps, np.int64) - stamps[0]
    times: list[int] = np.rint(offsets * float(tick_ms)).astype(np.int64).tolist()
    return times


def _stamp(packet: Packet[Any], index: int, step: int) -> int:
    if packet.pts is not None:
        return packet.pts
    return packet.dts if packet.dts is not None else index * step


def _sound_start_s(voice: AudioStream | None, begun: list[int], first_s: float) -> float | None:
    if voice is None or not begun:
        return None
    start_s = float(begun[0] * (voice.time_base or Fraction(1, voice.rate))) - first_s
    return round(start_s, 6) if abs(start_s) < ABSURD_S else None


def _feed(
    hasher: hashlib.blake2b, payload: Payload, begun: list[int]
) -> Callable[[Packet[Any]], None]:
    """Takes packets into the digest, and the timestamp of the first one into `begun`."""

    def feed(packet: Packet[Any]) -> None:
        if not begun and packet.pts is not None:
            begun.append(packet.pts)
        for part in payload(packet):
            hasher.update(part)

    return feed


def _hasher() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=ID_BYTES)
