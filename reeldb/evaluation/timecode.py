"""A strip of black and white blocks that says which moment of which video a picture shows.

It survives what happens to a picture on its way to a model: video coding, scaling down to
about 200 pixels, JPEG. A picture can hold anything below the strip.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]

COLUMNS, ROWS = 28, 2
STRIP = 8  # the strip is a STRIP-th of the picture's height
_VIDEO_BITS, _TIME_BITS, _CHECK_BITS = 16, 28, 12
VIDEOS = 1 << _VIDEO_BITS
LONGEST_S = ((1 << _TIME_BITS) - 1) / 1000
_CHECK = 0xA53  # so that neither a black nor a white strip reads as a code
_LEAST_CONTRAST = 60


def stamped(picture: Picture, video: int, t_s: float) -> Picture:
    """The picture with the strip over its top edge. Raises ValueError unless 0 <= video < VIDEOS
    and 0 <= t_s <= LONGEST_S (74 hours)."""
    ms = round(t_s * 1000)
    if not (0 <= video < VIDEOS and 0 <= ms < 1 << _TIME_BITS):
        raise ValueError(f"video {video} at {t_s} s does not fit into a strip")
    code = (video << _TIME_BITS | ms) << _CHECK_BITS | _check(video, ms)
    bits = np.array([code >> i & 1 for i in range(ROWS * COLUMNS)], np.uint8) * 255
    rows, columns = _grid(*picture.shape[:2])
    out = picture.copy()
    out[: len(rows)] = bits.reshape(ROWS, COLUMNS)[rows[:, None], columns][:, :, None]
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


def _check(video: int, ms: int) -> int:
    """Twelve bits that depend on all the others."""
    mixed = (video << _TIME_BITS | ms) * 0x9E3779B97F4A7C15 + _CHECK
    return (mixed >> 13 ^ mixed >> 29 ^ mixed >> 47 ^ mixed) & (1 << _CHECK_BITS) - 1


@lru_cache(maxsize=8)
def _grid(height: int, width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cell's row of each pixel row of the strip, and the cell's column of each column."""
    down = [round(row * height / STRIP / ROWS) for row in range(ROWS + 1)]
    across = [round(column * width / COLUMNS) for column in range(COLUMNS + 1)]
    return (
        np.repeat(np.arange(ROWS), np.diff(down)),
        np.repeat(np.arange(COLUMNS), np.diff(across)),
    )


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
