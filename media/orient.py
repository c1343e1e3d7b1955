"""How a stored picture is turned and stretched into the picture as shown."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import cv2
import numpy as np
from av.sidedata.sidedata import SideData, Type
from av.video.frame import VideoFrame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reeldb.schema.models import Image

_TURNS = {90: cv2.ROTATE_90_CLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_COUNTERCLOCKWISE}
_SANE_ASPECT = 10


@dataclass(frozen=True, slots=True)
class Orientation:
    """What to do with a stored picture: stretch its pixels by `sar` (width : height of one
    pixel), flip it left to right where `mirrored`, then turn it clockwise by `rotation`
    degrees (0, 90, 180 or 270)."""

    rotation: int = 0
    mirrored: bool = False
    sar: Fraction = Fraction(1)

    @property
    def sideways(self) -> bool:
        return self.rotation in (90, 270)


UPRIGHT = Orientation()


def orientation_of(frame: VideoFrame, sar: Fraction | None = None) -> Orientation:
    """The orientation that the decoded frame's display matrix and the stream's pixel aspect
    ask for. Angles that are no quarter turn go to the nearest one."""
    rotation, mirrored = _turn(_matrix(frame))
    return Orientation(rotation, mirrored, sane_aspect(sar))


def sane_aspect(sar: Fraction | None) -> Fraction:
    """The pixel aspect, or 1 where it is unknown or absurd."""
    if sar is None or not Fraction(1, _SANE_ASPECT) <= sar <= _SANE_ASPECT:
        return Fraction(1)
    return sar


def _matrix(frame: VideoFrame) -> tuple[int, int, int, int] | None:
    held = cast("Mapping[Type, SideData]", frame.side_data).get(Type.DISPLAYMATRIX)
    if held is None:
        return None
    m = np.frombuffer(bytes(held), np.int32, 9)
    return int(m[0]), int(m[1]), int(m[3]), int(m[4])


def _turn(matrix: tuple[int, int, int, int] | None) -> tuple[int, bool]:
    """(degrees clockwise, mirrored first) of the matrix [a b; c d]: x' = ax + cy, y' = bx + dy."""
    if matrix is None or matrix[0] * matrix[3] == matrix[1] * matrix[2]:
        return 0, False
    a, b, c, d = matrix
    mirrored = a * d - b * c < 0
    if mirrored:
        a, b = -a, -b
    degrees = np.degrees(np.arctan2(b - c, a + d))
    return round(degrees / 90) * 90 % 360, mirrored


def shown_size(width: int, height: int, orientation: Orientation) -> tuple[int, int]:
    """(width, height) as shown of a stored picture of that size.

    >>> shown_size(720, 576, Orientation(rotation=90, sar=Fraction(16, 15)))
    (576, 768)
    """
    wide = max(1, round(width * orientation.sar))
    return (height, wide) if orientation.sideways else (wide, height)


def upright(image: Image, orientation: Orientation) -> Image:
    """The stored picture as shown: stretched, mirrored, turned."""
    height, width = image.shape[:2]
    wide = max(1, round(width * orientation.sar))
    if wide != width:
        image = _uint8(cv2.resize(image, (wide, height), interpolation=cv2.INTER_LINEAR))
    return turned(image, orientation)


def turned(image: Image, orientation: Orientation) -> Image:
    """The picture mirrored and turned, its pixels left as they are."""
    if orientation.mirrored:
        image = _uint8(cv2.flip(image, 1))
    if orientation.rotation:
        image = _uint8(cv2.rotate(image, _TURNS[orientation.rotation]))
    return image


def _uint8(image: object) -> Image:
    return np.asarray(image, np.uint8)
