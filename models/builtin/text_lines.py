"""What text says: PP-OCRv4's recognition network on a cut-out line, and its CTC decoding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import cv2
import numpy as np

from reeldb.models.builtin.session import outputs, session
from reeldb.models.builtin.text_boxes import sides

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reeldb.models.builtin.text_boxes import Corners
    from reeldb.schema.models import Image

    Probabilities = NDArray[np.float32]  # (steps, characters)

NETWORK = "ocr_rec.onnx"
HIGH = 48  # pixels: the height of a line that the network takes
NARROW = 320  # pixels: lines are padded to at least this width, as in its training
WIDE = 3200  # pixels: longer lines are squeezed
STEP = 32  # widths are multiples of this, so that few shapes occur
UPRIGHT = 1.5  # a box this much higher than wide holds a line turned by 90 degrees
BLANK = 0  # class
GAP = 0.05  # measured on 681 spaces of rendered and filmed text: 669 found (556 without), 1 false


@cache
def characters() -> list[str]:
    """The character of each class of the network: blank first, space last."""
    listed = session(NETWORK).get_modelmeta().custom_metadata_map["character"]
    return ["", *listed.splitlines(), " "]


def cut(image: Image, corners: Corners) -> Image:
    """The box as an upright line of text."""
    wide, high = (max(1, round(s)) for s in sides(corners))
    flat = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], np.float32)
    warp = cv2.getPerspectiveTransform(corners, flat)
    line = cv2.warpPerspective(
        image, warp, (wide, high), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    if high >= UPRIGHT * wide:
        line = np.rot90(line)
    return np.ascontiguousarray(line, np.uint8)


def read_line(line: Image) -> tuple[str, float]:
    """The text of one cut-out line and its mean probability.

    One line a run: batches of like width took twice the time on a CPU.
    """
    wide = min(WIDE, max(1, -(-HIGH * line.shape[1] // line.shape[0])))
    padded = -(-max(NARROW, wide) // STEP) * STEP
    pixels = np.zeros((1, 3, HIGH, padded), np.float32)
    small = cv2.resize(line, (wide, HIGH), interpolation=cv2.INTER_LINEAR)
    bgr = small[:, :, ::-1].transpose(2, 0, 1)  # trained on BGR
    pixels[0, :, :, :wide] = bgr * np.float32(1 / 127.5) - np.float32(1)
    [answer] = outputs(NETWORK, x=pixels)
    return decode(answer[0], characters())


def decode(probabilities: Probabilities, names: Sequence[str]) -> tuple[str, float]:
    """Best-path CTC decoding: a run of one class is one character, blanks are none.

    The network joins words; a space that was never the best class but had a chance of GAP
    between two characters is written all the same.
    """
    best = probabilities.argmax(axis=1)
    text, chances = "", []
    end = 0  # the last step of the character before
    for start, stop in _runs(best):
        name = names[best[start]]
        between = probabilities[end : start + 1, -1]
        if text and name != " " and text[-1] != " " and between.max() > GAP:
            text += " "
        text += name
        chances.append(float(probabilities[start, best[start]]))
        end = stop
    return text.strip(), float(np.mean(chances)) if chances else 0.0


def _runs(best: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    """The first and last step of each character."""
    edges = np.flatnonzero(np.diff(best)) + 1
    starts, stops = [0, *edges.tolist()], [*edges.tolist(), len(best)]
    for start, stop in zip(starts, stops, strict=True):
        if stop > start and best[start] != BLANK:
            yield start, stop - 1
