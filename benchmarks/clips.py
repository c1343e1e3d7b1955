"""Small clips whose cuts are known, for benchmarks that were given no videos."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import av
import numpy as np

SIZE = (160, 120)
STEP = 2  # pixels that every picture moves on


def patchwork(path: Path, lengths_s: Sequence[float], fps: int, seed: int) -> tuple[float, ...]:
    """Writes shots of coloured patches that drift sideways, and gives the times of the cuts."""
    width, height = SIZE
    random, shown = np.random.default_rng(seed), 0
    starts: list[float] = []
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=fps)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for length_s in lengths_s:
            starts.append(shown / fps)
            patches = random.integers(0, 256, (6, 16, 3), np.uint8).repeat(20, 0).repeat(20, 1)
            for i in range(round(length_s * fps)):
                picture = np.roll(patches, -STEP * i, axis=1)[:, :width]
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
                container.mux(stream.encode(frame))
                shown += 1
        container.mux(stream.encode())
    return tuple(starts[1:])
