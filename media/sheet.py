"""Contact sheets: many small pictures on one, each with a line of text under it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from reeldb.schema.models import Image

CELL = 240  # width of one picture, pixels
GAP = 8
LINE = 18
PAPER, INK = (250, 250, 250), (40, 40, 40)


def contact_sheet(cells: Sequence[tuple[Image, str]], columns: int | None = None) -> Image:
    """The pictures in reading order, each scaled to one width, with its text under it.

    Text is drawn in ASCII (other characters as ?), which is enough for numbers and times.
    Raises ValueError without cells.
    """
    if not cells:
        raise ValueError("a contact sheet needs at least one picture")
    columns = columns or max(1, min(len(cells), round((len(cells) * 1.4) ** 0.5)))
    small = [_scaled(image) for image, _ in cells]
    tallest = max(image.shape[0] for image in small)
    rows = -(-len(cells) // columns)
    sheet = np.full(
        (GAP + rows * (tallest + LINE + GAP), GAP + columns * (CELL + GAP), 3), PAPER, np.uint8
    )
    for i, (image, (_, text)) in enumerate(zip(small, cells, strict=True)):
        row, column = divmod(i, columns)
        y = GAP + row * (tallest + LINE + GAP)
        x = GAP + column * (CELL + GAP)
        height, width = image.shape[:2]
        sheet[y : y + height, x : x + width] = image
        line = text.encode("ascii", "replace").decode()
        cv2.putText(
            sheet, line, (x, y + tallest + 13), cv2.FONT_HERSHEY_SIMPLEX, 0.38, INK, 1, cv2.LINE_AA
        )
    return sheet


def encode_png(image: Image) -> bytes:
    """The RGB picture as PNG."""
    _, data = cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    return bytes(data)


def _scaled(image: Image) -> Image:
    height, width = image.shape[:2]
    size = (CELL, max(1, min(2 * CELL, round(height * CELL / width))))
    mode = cv2.INTER_AREA if width > CELL else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, size, interpolation=mode), np.uint8)
