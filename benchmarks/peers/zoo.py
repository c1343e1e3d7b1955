"""A clip of shots in each of which one animal is seen, and how to see which.

The animal is a colour in the middle of the picture: it survives JPEG of any quality and every
resizing, so that what a system sends does not change what the model answers. One shot in ten
shows each animal, in a shuffled order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np

ANIMALS = ("fox", "owl", "heron", "crab", "moth", "newt", "wolf", "seal", "hare", "toad")
COLOURS = np.array(
    [
        (230, 30, 30), (30, 200, 30), (30, 60, 230), (235, 225, 30), (225, 30, 215),
        (30, 215, 220), (245, 245, 245), (15, 15, 15), (240, 130, 20), (110, 110, 110),
    ],
    np.int64,
)  # fmt: skip
SIZE = (320, 240)
STEP = 2  # pixels by which the background moves from one picture to the next
Pixels = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True, slots=True)
class Zoo:
    """A clip: its file, and the shots as (start, end, animal), in seconds."""

    path: Path
    shots: tuple[tuple[float, float, str], ...]

    def animal_at(self, at_s: float) -> str:
        """What is seen at a time; '' outside."""
        return next((a for start, end, a in self.shots if start <= at_s < end), "")

    def times(self, animal: str) -> list[int]:
        """The whole seconds at which it is seen: rows of a system that samples once a second."""
        return [t for t in range(int(self.shots[-1][1])) if self.animal_at(t) == animal]


def draw(path: Path, *, shots: int, shot_s: float, fps: int = 25, seed: int = 0) -> Zoo:
    """Writes the clip; `shots` is a multiple of ten."""
    width, height = SIZE
    random = np.random.default_rng(seed)
    kinds = [int(k) for _ in range(shots // 10) for k in random.permutation(10)]
    each, found = round(shot_s * fps), []
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=fps, options={"preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for n, kind in enumerate(kinds):
            found.append((n * each / fps, (n + 1) * each / fps, ANIMALS[kind]))
            patches = random.integers(0, 256, (12, 24, 3), np.uint8).repeat(20, 0).repeat(20, 1)
            for i in range(each):
                picture = np.roll(patches, -STEP * i, axis=1)[:, :width].copy()
                picture[60:180, 80:240] = COLOURS[kind]
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return Zoo(path, tuple(found))


def seen(picture: Pixels) -> str:
    """The animal of a picture: RGB, any size."""
    height, width = picture.shape[:2]
    middle = picture[height * 2 // 5 : height * 3 // 5, width * 2 // 5 : width * 3 // 5]
    colour: Sequence[float] = np.median(middle.reshape(-1, 3), axis=0).tolist()
    away = ((COLOURS - np.array(colour)) ** 2).sum(axis=1)
    return ANIMALS[int(away.argmin())]
