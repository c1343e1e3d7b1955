"""A strip of black and white blocks that says which moment of which video a picture shows.

It survives what happens to a picture on its way to a model: video coding, scaling down to
about 200 pixels, JPEG. Clips made here can hold anything below the strip.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tests.clips import Colour, Picture, rgb, write_clip

COLUMNS, ROWS = 20, 2
STRIP = 8  # the strip is a STRIP-th of the picture's height
_VIDEO_BITS, _TIME_BITS, _CHECK_BITS = 8, 24, 8
_CHECK = 0xA5  # so that neither a black nor a white strip reads as a code
_LEAST_CONTRAST = 60


def stamped(picture: Picture, video: int, t_s: float) -> Picture:
    """The picture with the strip over its top edge. `video` is 0..255."""
    height, width = picture.shape[:2]
    ms = round(t_s * 1000)
    if not (0 <= video < 1 << _VIDEO_BITS and 0 <= ms < 1 << _TIME_BITS):
        raise ValueError(f"video {video} at {t_s} s does not fit into a strip")
    code = (video << _TIME_BITS | ms) << _CHECK_BITS | _check(video, ms)
    out = picture.copy()
    for i, (top, bottom, left, right) in enumerate(_cells(height, width)):
        out[top:bottom, left:right] = 255 if code >> i & 1 else 0
    return out


def read_stamp(picture: Picture) -> tuple[int, float] | None:
    """The video and the time in seconds that the strip says, None where there is none."""
    height, width = picture.shape[:2]
    if height < STRIP * ROWS * 2 or width < COLUMNS * 2:
        return None
    light = picture[: height // STRIP + 1].mean(axis=2)
    cells = np.array([_middle(light, cell) for cell in _cells(height, width)])
    low, high = cells.min(), cells.max()
    if high - low < _LEAST_CONTRAST:
        return None
    code = sum(1 << i for i, bright in enumerate(cells > (low + high) / 2) if bright)
    check, code = code & (1 << _CHECK_BITS) - 1, code >> _CHECK_BITS
    ms, video = code & (1 << _TIME_BITS) - 1, code >> _TIME_BITS
    return (video, ms / 1000) if check == _check(video, ms) else None


def stamped_clip(
    path: Path,
    video: int,
    scenes: Sequence[tuple[Colour, float]],
    *,
    fps: float = 5,
    size: tuple[int, int] = (320, 240),
    **how: Any,
) -> Path:
    """A video of one colour a scene, `(colour, seconds)`, each picture with its strip; `how`
    goes to `write_clip`."""

    def pictures() -> Iterator[tuple[float, Picture]]:
        shown, end_s = 0, 0.0
        for colour, seconds in scenes:
            end_s += seconds
            plain = np.full((size[1], size[0], 3), rgb(colour), np.uint8)
            while shown / fps < end_s - 1e-6:
                yield shown / fps, stamped(plain, video, shown / fps)
                shown += 1

    return write_clip(path, pictures(), fps=Fraction(fps).limit_denominator(1001), **how)


def _check(video: int, ms: int) -> int:
    """Eight bits that depend on all the others."""
    mixed = (video << _TIME_BITS | ms) * 0x9E3779B1 + _CHECK
    return (mixed >> 13 ^ mixed >> 29 ^ mixed) & 0xFF


def _cells(height: int, width: int) -> list[tuple[int, int, int, int]]:
    """(top, bottom, left, right) of each cell, row by row."""
    deep = height / STRIP / ROWS
    return [
        (
            round(row * deep),
            round((row + 1) * deep),
            round(column * width / COLUMNS),
            round((column + 1) * width / COLUMNS),
        )
        for row in range(ROWS)
        for column in range(COLUMNS)
    ]


def _middle(light: np.ndarray[Any, Any], cell: tuple[int, int, int, int]) -> float:
    """The mean of the inner half of a cell, where scaling has mixed in nothing else."""
    top, bottom, left, right = cell
    high, wide = (bottom - top) // 4, (right - left) // 4
    return float(light[top + high : bottom - high, left + wide : right - wide].mean())
