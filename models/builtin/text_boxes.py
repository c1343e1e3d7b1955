"""Where text is: PP-OCRv4's detection network and what makes boxes of its answer.

A first look at a small copy of the picture tells whether it holds text at all: most do not.
The network is a differentiable binarization (Liao et al. 2020): it gives each pixel the
probability of lying in the core of a text line. Cores become rectangles, grown back to whole
lines by area * GROW / perimeter (of a rectangle, so no polygon library is needed).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import cv2
import numpy as np

from reeldb.models.builtin.session import outputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reeldb.schema.models import Image

    Corners = NDArray[np.float32]  # (4, 2): x, y from top left, clockwise, in pixels

NETWORK = "ocr_det.onnx"
STEP = 32  # the network halves its input five times
SHORT_SIDE = 736  # pictures are scaled so that their short side is at least this ...
LONG_SIDE = 1280  # ... and their long side at most this
GLANCE = 736  # the long side of the first look
PIXEL = 0.3  # a pixel of at least this probability is text
BOX = 0.5  # a box of at least this mean probability is kept
GROW = 1.6
LEAST = 3  # pixels of the network's input; thinner cores are noise
MOST = 1000  # boxes looked at in one picture


def input_size(width: int, height: int) -> tuple[int, int]:
    """The size, (width, height), that the network sees a picture in: multiples of STEP."""
    scale = max(1.0, SHORT_SIDE / min(width, height))
    return _stepped(width, height, min(scale, LONG_SIDE / max(width, height)))


def _stepped(width: int, height: int, scale: float) -> tuple[int, int]:
    wide, high = (max(1, round(side * scale / STEP)) * STEP for side in (width, height))
    return wide, high


def text_boxes(image: Image) -> list[Corners]:
    """The corners of every line of text, in reading order."""
    height, width = image.shape[:2]
    glance = _stepped(width, height, GLANCE / max(width, height))
    if _probability(image, glance).max() < PIXEL:
        return []
    size = input_size(width, height)
    scale = np.array([width / size[0], height / size[1]], np.float32)
    limit = np.array([width - 1, height - 1], np.float32)
    boxes = [np.clip(c * scale, 0, limit) for c in _cores(_probability(image, size))]
    return reading_order([b for b in boxes if min(sides(b)) > LEAST])


def _probability(image: Image, size: tuple[int, int]) -> NDArray[np.float32]:
    """The network's answer, of shape (height, width), to the picture scaled to `size`."""
    shrinks = size[0] < image.shape[1]
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    pixels = small[None, :, :, ::-1].transpose(0, 3, 1, 2).astype(np.float32)  # trained on BGR
    pixels *= 1 / 127.5
    pixels -= 1.0
    [answer] = outputs(NETWORK, x=pixels)
    return np.asarray(answer[0, 0], np.float32)


def _cores(probability: NDArray[np.float32]) -> list[Corners]:
    """Grown boxes around the cores of a probability map, in the map's pixels."""
    core = cv2.dilate((probability > PIXEL).astype(np.uint8), np.ones((2, 2), np.uint8))
    outlines, _ = cv2.findContours(core, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    boxes = []
    for outline in outlines[:MOST]:
        center, (wide, high), angle = cv2.minAreaRect(outline)
        if min(wide, high) < LEAST:
            continue
        if _mean_inside(probability, _corners(center, wide, high, angle)) < BOX:
            continue
        grow = wide * high * GROW / (wide + high)  # both sides of 2 * area / perimeter
        boxes.append(clockwise(_corners(center, wide + grow, high + grow, angle)))
    return boxes


def _corners(center: Sequence[float], wide: float, high: float, angle: float) -> Corners:
    return np.asarray(cv2.boxPoints((center, (wide, high), angle)), np.float32)


def _mean_inside(probability: NDArray[np.float32], corners: Corners) -> float:
    high, wide = probability.shape
    x0, y0 = np.clip(np.floor(corners.min(axis=0)), 0, [wide - 1, high - 1]).astype(int)
    x1, y1 = np.clip(np.ceil(corners.max(axis=0)), 0, [wide - 1, high - 1]).astype(int)
    mask = np.zeros((y1 - y0 + 1, x1 - x0 + 1), np.uint8)
    cv2.fillPoly(mask, [(corners - [x0, y0]).astype(np.int32)], (1,))
    return float(cv2.mean(probability[y0 : y1 + 1, x0 : x1 + 1], mask)[0])


def clockwise(corners: Corners) -> Corners:
    """The corners from the top left one, clockwise on the screen."""
    left, right = np.split(corners[np.argsort(corners[:, 0], kind="stable")], 2)
    left, right = left[np.argsort(left[:, 1])], right[np.argsort(right[:, 1])]
    return np.array([left[0], right[0], right[1], left[1]], np.float32)


def sides(corners: Corners) -> tuple[float, float]:
    """Width and height of a box: the longer of each pair of sides, in pixels."""
    a, b, c, d = corners
    wide = max(np.linalg.norm(a - b), np.linalg.norm(c - d))
    high = max(np.linalg.norm(a - d), np.linalg.norm(b - c))
    return float(wide), float(high)


def reading_order(boxes: list[Corners]) -> list[Corners]:
    """Rows from top to bottom, each from left to right; a row is of about equal middles."""
    rows: list[list[Corners]] = []
    for box in sorted(boxes, key=lambda b: float(b[:, 1].mean())):
        last = rows[-1][-1] if rows else None
        if last is not None and _same_row(last, box):
            rows[-1].append(box)
        else:
            rows.append([box])
    return [b for row in rows for b in sorted(row, key=lambda b: float(b[:, 0].min()))]


def _same_row(a: Corners, b: Corners) -> bool:
    apart = abs(float(a[:, 1].mean() - b[:, 1].mean()))
    return apart < min(sides(a)[1], sides(b)[1]) / 2
