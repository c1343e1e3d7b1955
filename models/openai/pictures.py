"""Pictures as servers take them: few enough, small enough, each after its time."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import cv2

from reeldb.models.spread import spread
from reeldb.schema.models import Message
from reeldb.schema.spans import clock

if TYPE_CHECKING:
    from reeldb.schema.models import Image

QUALITY = 85


def count(messages: Sequence[Message]) -> int:
    """How many pictures the messages hold."""
    return sum(len(m.images) for m in messages)


def payload(messages: Sequence[Message], most: int, side: int) -> list[dict[str, Any]]:
    """The messages as the API wants them, with at most `most` pictures of all of them, none
    larger than `side` pixels. A message without pictures is plain text."""
    kept = set(spread(count(messages), most))
    sent = []
    place = 0
    for message in messages:
        parts: list[dict[str, Any]] = []
        times: Sequence[float | None] = message.times_s or [None] * len(message.images)
        for image, time_s in zip(message.images, times, strict=True):
            if place in kept:
                parts += _labelled(image, time_s, side)
            place += 1
        if parts:
            parts.append({"type": "text", "text": message.text})
        sent.append({"role": message.role, "content": parts or message.text})
    return sent


def _labelled(image: Image, time_s: float | None, side: int) -> list[dict[str, Any]]:
    picture = {"type": "image_url", "image_url": {"url": data_url(image, side)}}
    if time_s is None:
        return [picture]
    return [{"type": "text", "text": f"Picture at {clock(time_s)}:"}, picture]


def data_url(image: Image, side: int) -> str:
    """The picture as a JPEG data URL, at most `side` pixels on its longest side."""
    height, width = image.shape[:2]
    scale = side / max(height, width)
    if scale < 1:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
    bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    done, jpeg = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    if not done:
        raise ValueError(f"a picture of shape {image.shape} cannot be written as JPEG")
    return "data:image/jpeg;base64," + base64.b64encode(jpeg.tobytes()).decode("ascii")
