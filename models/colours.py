"""Names for plain colours: what the fakes see in a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reeldb.schema.models import Image

PALETTE: dict[str, tuple[int, int, int]] = {
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "gray": (128, 128, 128),
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "cyan": (0, 255, 255),
    "magenta": (255, 0, 255),
    "orange": (255, 165, 0),
}
_RGB = np.array(list(PALETTE.values()), np.float32)


def closeness(image: Image) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """How near the picture's mean colour is to each of PALETTE: shape (10,), sum 1."""
    mean = image.reshape(-1, 3).mean(axis=0, dtype=np.float64)
    weights = np.exp(-(((_RGB - mean) / 64.0) ** 2).sum(axis=1))
    total = weights.sum()
    if total < 1e-9:  # far from all of them: the nearest alone
        weights = np.zeros(len(_RGB))
        weights[np.argmin(((_RGB - mean) ** 2).sum(axis=1))] = total = 1.0
    return np.asarray(weights / total, np.float32)


def colour(image: Image) -> str:
    """The name of the palette colour nearest to the picture's mean."""
    return list(PALETTE)[int(closeness(image).argmax())]
