"""Whether a file is whole: what its outermost frames promise against what is there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

_EBML, _SEGMENT = b"\x1a\x45\xdf\xa3", b"\x18\x53\x80\x67"
_MOST_BOXES = 1_000_000
_SYNC = 0x47
_TS_SIZES = ((188, 0), (192, 4), (204, 0))  # bytes a packet, where its sync byte is
_TS_CHUNK = 8192


def missing_bytes(path: str | os.PathLike[str]) -> int:
    """How many bytes the file lacks of what its container announces (MP4/MOV boxes, the
    Matroska segment, the RIFF list); 0 where it is whole or the format does not say."""
    size = Path(path).stat().st_size
    with Path(path).open("rb") as f:
        head = f.read(12)
        f.seek(0)
        if head[:4] == _EBML:
            end = _matroska_end(f)
        elif head[:4] == b"RIFF":
            end = int.from_bytes(head[4:8], "little") + 8
        elif head[4:8] in (b"ftyp", b"moov", b"mdat", b"free", b"wide", b"skip", b"styp"):
            end = _boxes_end(f)
        else:
            return 0
    return max(0, end - size)


def has_fragments(path: str | os.PathLike[str]) -> bool:
    """Whether an MP4 file has movie fragments, so that its index at the start is not all."""
    with Path(path).open("rb") as f:
        return any(kind == b"moof" for kind, _ in _boxes(f))


def is_torn(path: str | os.PathLike[str]) -> bool:
    """Whether something in a transport stream is not a transport packet."""
    with Path(path).open("rb") as f:
        head = f.read(_TS_CHUNK)
        size, at = next(
            ((n, at) for n, at in _TS_SIZES if len(head) > n and head[at] == head[n + at] == _SYNC),
            (0, 0),
        )
        if not size:
            return True
        f.seek(0)
        while chunk := f.read(size * _TS_CHUNK):
            whole = len(chunk) // size * size
            syncs = np.frombuffer(chunk, np.uint8, whole).reshape(-1, size)[:, at]
            if whole and not (syncs == _SYNC).all():
                return True
    return False


def _boxes_end(f: BinaryIO) -> int:
    """Where the last box that begins inside the file ends."""
    return max((end for _, end in _boxes(f)), default=0)


def _boxes(f: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """(kind, end) of each outermost box."""
    at = 0
    for _ in range(_MOST_BOXES):
        f.seek(at)
        head = f.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1 and len(head) == 16:
            length = int.from_bytes(head[8:16], "big")
        if length < 8 or not head[4:8].isalnum():
            return  # 0 means "to the end of the file"; anything else is no box
        at += length
        yield head[4:8], at


def _matroska_end(f: BinaryIO) -> int:
    """Where the segment ends; 0 where its size is not known (live recordings)."""
    f.seek(4)
    length = _vint(f)
    if length is None:
        return 0
    f.seek(length, os.SEEK_CUR)
    if f.read(4) != _SEGMENT:
        return 0
    length = _vint(f)
    return f.tell() + length if length is not None else 0


def _vint(f: BinaryIO) -> int | None:
    """An EBML size; None where it means "unknown"."""
    first = f.read(1)
    if not first or not first[0]:
        return None
    width = 9 - first[0].bit_length()
    value = int.from_bytes(first + f.read(width - 1), "big") & ((1 << 7 * width) - 1)
    return None if value == (1 << 7 * width) - 1 else value
