"""`builtin:ocr`: on-screen text, by PP-OCRv4's two networks and our own small runner.

The package the weights come from would bring a second owner of OpenCV, one that needs GUI
libraries; so only its weights are shipped. Lines turned upside down are not handled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reeldb.models.builtin.text_boxes import LONG_SIDE, text_boxes
from reeldb.models.builtin.text_lines import cut, read_line
from reeldb.models.builtin.weights import version
from reeldb.schema.models import Found, Look

if TYPE_CHECKING:
    from reeldb.models.builtin.text_boxes import Corners
    from reeldb.schema.models import Image

METHOD = "glance 736, long side 1280, gap 0.05"
SURE = 0.5  # lines of a lower mean probability are mostly texture


class Ocr:
    """Reads the lines of text of a picture, in reading order."""

    address = "builtin:ocr"
    can = "reads printed Latin and Chinese text in pictures, tenths of a second each"
    cannot = (
        "stylised titles, handwriting, text below 2 % of the picture's height and other scripts "
        "are missed or misread, accents lost, words at times joined; compare ignoring spaces"
    )
    batch_size = 4
    image_size = LONG_SIDE

    def __init__(self) -> None:
        self.identity = f"builtin:ocr@{version(METHOD, 'ocr_det.onnx', 'ocr_rec.onnx')}"

    def look(self, images: Sequence[Image]) -> list[Look]:
        """One look a picture. Raises ModelError where the networks cannot be opened."""
        return [self._one(image) for image in images]

    def _one(self, image: Image) -> Look:
        if image.ndim != 3 or image.shape[2] != 3 or image.size == 0:
            return Look("failed", note=f"not an RGB picture: shape {image.shape}")
        image = np.ascontiguousarray(image)
        height, width = image.shape[:2]
        found = []
        for corners in text_boxes(image):
            text, confidence = read_line(cut(image, corners))
            if text and confidence >= SURE:
                found.append(Found(text, confidence, _box(corners, width, height)))
        return Look("ok", tuple(found)) if found else Look("empty")


def _box(corners: Corners, width: int, height: int) -> tuple[float, float, float, float]:
    """The upright box around the corners, in 0..1 of the picture."""
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    return float(x0 / width), float(y0 / height), float(x1 / width), float(y1 / height)
