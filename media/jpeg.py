"""RGB pictures to JPEG bytes and back, to smaller ones, and out of picture files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from reeldb.media.container import shown_path
from reeldb.media.convert import fit
from reeldb.schema.errors import MediaError

if TYPE_CHECKING:
    from reeldb.schema.models import Image


def encode_jpeg(rgb: Image, quality: int = 80) -> bytes:
    """The picture as JPEG; `quality` 1 to 100."""
    bgr = cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR)
    done, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise MediaError(f"a picture of shape {rgb.shape} cannot be written as JPEG")
    return bytes(data)


def decode_jpeg(data: bytes) -> Image:
    """The RGB picture in these JPEG bytes. Raises MediaError where there is none."""
    rgb = _decoded(data)
    if rgb is None:
        raise MediaError(f"{len(data)} bytes that should be a JPEG picture are not one")
    return rgb


def read_picture(path: Path) -> Image:
    """The RGB picture in a JPEG, PNG, WebP, BMP or TIFF file. Raises MediaError."""
    try:
        rgb = _decoded(path.read_bytes())
    except OSError as error:
        raise MediaError(f"{shown_path(path)}: cannot be read: {error.strerror}") from error
    if rgb is None:
        raise MediaError(f"{shown_path(path)}: is not a picture; give a JPEG or PNG file")
    return rgb


def _decoded(data: bytes) -> Image | None:
    try:
        bgr = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    except cv2.error:
        return None
    return None if bgr is None else np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB), np.uint8)


def resize_max(rgb: Image, max_side: int) -> Image:
    """The picture with its longest side at most `max_side` pixels; smaller ones as they are."""
    height, width = rgb.shape[:2]
    size = fit(width, height, max_side)
    if size == (width, height):
        return rgb
    return np.asarray(cv2.resize(rgb, size, interpolation=cv2.INTER_AREA), np.uint8)
