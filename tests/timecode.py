"""Clips of plain colours whose pictures say which moment of which video they show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from reeldb.evaluation.timecode import read_stamp, stamped
from tests.clips import Colour, Picture, rgb, write_clip

__all__ = ["read_stamp", "stamped", "stamped_clip"]


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
