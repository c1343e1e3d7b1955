"""Decoded frames to arrays: small and fast ones to look for cuts, upright ones to look at.

The colour matrix and range that the frame names are respected; a frame that names none is
taken for BT.601 limited range, as FFmpeg does. HDR (PQ, HLG) is brought to 8 bits without
tone mapping. Where a picture has an alpha plane it is shown over black.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import av
import numpy as np
from av.video.format import VideoFormat
from av.video.frame import VideoFrame
from av.video.reformatter import Interpolation, VideoReformatter

from reeldb.media.orient import UPRIGHT, Orientation, shown_size, turned
from reeldb.schema.errors import MediaError

if TYPE_CHECKING:
    from reeldb.schema.models import Image

SMALL_SIDE = 256
_UNSPECIFIED_MATRIX, _UNSPECIFIED_RANGE = 2, 0
_kept = threading.local()  # a reformatter keeps its scaler between frames of one size


def small_bgr(frame: VideoFrame, max_side: int = SMALL_SIDE) -> Image:
    """The stored picture (not turned) as BGR, point-sampled so that its longest side is at
    most `max_side`: the cheapest picture that finds the same cuts (0.3 ms from 720p)."""
    width, height = fit(frame.width, frame.height, max_side)
    return _pixels(frame, width, height, "bgr", Interpolation.POINT)


def to_rgb(
    frame: VideoFrame,
    orientation: Orientation = UPRIGHT,
    max_side: int | None = None,
    size: tuple[int, int] | None = None,
) -> Image:
    """The picture as shown, RGB: in its own size, with its longest side at most `max_side`
    pixels, or stretched to exactly `size` (width, height)."""
    width, height = shown_size(frame.width, frame.height, orientation)
    if size is not None:
        width, height = size
    elif max_side is not None:
        width, height = fit(width, height, max_side)
    if orientation.sideways:
        width, height = height, width
    shrinks = width * height < frame.width * frame.height
    how = Interpolation.AREA if shrinks else Interpolation.BILINEAR
    return turned(_pixels(frame, width, height, "rgb", how), orientation)


def fit(width: int, height: int, max_side: int) -> tuple[int, int]:
    """The size with the same shape whose longest side is at most `max_side`.

    >>> fit(1280, 720, 256), fit(100, 50, 256)
    ((256, 144), (100, 50))
    """
    longest = max(width, height)
    if longest <= max_side:
        return width, height
    return max(1, round(width * max_side / longest)), max(1, round(height * max_side / longest))


def has_alpha(format: VideoFormat) -> bool:
    """Whether pictures of this pixel format have an alpha plane."""
    return any(c.is_alpha for c in format.components) or format.name == "pal8"


def _pixels(frame: VideoFrame, width: int, height: int, order: str, how: Interpolation) -> Image:
    alpha = has_alpha(frame.format)
    wanted = order + ("a" if alpha else "24")
    reformatter = _reformatter(wanted, how)
    try:
        made = reformatter.reformat(frame, width, height, wanted, interpolation=how, threads=1)
    except av.FFmpegError:
        # Damaged headers name colour matrices that do not exist.
        frame.colorspace, frame.color_range = _UNSPECIFIED_MATRIX, _UNSPECIFIED_RANGE
        try:
            made = reformatter.reformat(frame, width, height, wanted, interpolation=how, threads=1)
        except av.FFmpegError as error:
            raise MediaError(
                f"pictures of format {frame.format.name} cannot be converted; re-encode the video"
            ) from error
    pixels = made.to_ndarray()
    return _over_black(pixels) if alpha else np.asarray(pixels, np.uint8)


def _reformatter(wanted: str, how: Interpolation) -> VideoReformatter:
    kept: dict[tuple[str, int], VideoReformatter] = _kept.__dict__.setdefault("by_use", {})
    return kept.setdefault((wanted, int(how)), VideoReformatter())


def _over_black(pixels: np.ndarray) -> Image:
    weight = pixels[:, :, 3:].astype(np.uint16)
    return ((pixels[:, :, :3] * weight + 127) // 255).astype(np.uint8)
