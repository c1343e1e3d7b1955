"""Videos without a file: their pictures are drawn when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tests.clips import Picture
from tests.timecode import stamped


class Drawn:
    """Stands for a file of any length: each picture holds its time code."""

    def __init__(self, path: str) -> None:
        self.number = int(re.findall(r"(\d+)\.mp4$", path)[0])

    def at(self, times_s: Sequence[float], *, max_side: int | None = None) -> list[Picture]:
        blank = np.full((90, 160, 3), 128, np.uint8)
        return [stamped(blank, self.number, t) for t in times_s]

    def __exit__(self, *_: object) -> None:
        pass
