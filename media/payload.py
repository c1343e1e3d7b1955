"""The part of a packet that is the same in every container it is copied to.

H.264 and HEVC change their framing (start codes or lengths) and carry parameter sets in the
packets or beside them; only the slices stay. AAC gets or loses its ADTS header.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from av.packet import Packet
from av.stream import Stream

Payload: TypeAlias = "Callable[[Packet[Any]], Iterable[bytes | memoryview]]"

_START = b"\0\0\1"
_AV1_DELIMITER = b"\x12\0"


def payload_of(stream: Stream) -> Payload:
    """What gives the lasting parts of a packet of this stream, in order."""
    codec = stream.codec_context.codec.canonical_name
    extradata = stream.codec_context.extradata or b""
    if codec == "h264":
        return _Slices(extradata, 4, lambda head: 1 <= head & 31 <= 5)
    if codec == "hevc":
        return _Slices(extradata, 21, lambda head: head >> 1 & 63 < 32)
    if codec == "aac":
        return _without_adts
    if codec == "av1":
        return _without_delimiter
    return _whole


class _Slices:
    """The slice NAL units of a packet, in either framing.

    `size_at` is where the decoder configuration record says how long a length is, `wanted`
    tells a slice from the first byte of a NAL unit.
    """

    def __init__(self, extradata: bytes, size_at: int, wanted: Callable[[int], bool]) -> None:
        framed = len(extradata) > size_at and extradata[0] == 1
        self._width = (extradata[size_at] & 3) + 1 if framed else 0
        self._wanted = wanted

    def __call__(self, packet: Packet[Any]) -> Iterator[bytes]:
        data = bytes(packet)
        units = list(_by_length(data, self._width)) if self._width else []
        for start, end in units or _by_start_code(data):
            if start < end and self._wanted(data[start]):
                # Zeros after a NAL unit are padding before the next start code.
                yield data[start:end].rstrip(b"\0")


def _by_length(data: bytes, width: int) -> Iterator[tuple[int, int]]:
    at, size = 0, len(data)
    while at + width <= size:
        start = at + width
        at = start + int.from_bytes(data[at:start], "big")
        yield start, min(at, size)


def _by_start_code(data: bytes) -> Iterator[tuple[int, int]]:
    at = data.find(_START)
    while at >= 0:
        start = at + 3
        at = data.find(_START, start)
        yield start, at if at >= 0 else len(data)


def _without_adts(packet: Packet[Any]) -> Iterable[memoryview]:
    view = memoryview(packet)
    if len(view) > 9 and view[0] == 0xFF and view[1] & 0xF6 == 0xF0:
        view = view[7:] if view[1] & 1 else view[9:]
    return (view,)


def _without_delimiter(packet: Packet[Any]) -> Iterable[memoryview]:
    view = memoryview(packet)
    return (view[2:] if view[:2] == _AV1_DELIMITER else view,)


def _whole(packet: Packet[Any]) -> Iterable[memoryview]:
    return (memoryview(packet),)
