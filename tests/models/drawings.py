"""Drawn pictures that the built-in networks know: no photograph needs to be shipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from reeldb.schema.models import Image

WHITE = (255, 255, 255)


def plain(colour: tuple[int, int, int], width: int = 320, height: int = 240) -> Image:
    return np.full((height, width, 3), colour, np.uint8)


def clock() -> Image:
    image = plain((200, 180, 150), 240, 240)
    cv2.circle(image, (120, 120), 100, (250, 250, 245), -1, cv2.LINE_AA)
    cv2.circle(image, (120, 120), 100, (20, 20, 20), 6, cv2.LINE_AA)
    for hour in range(12):
        angle = hour * np.pi / 6
        at = (int(111 + 82 * np.sin(angle)), int(127 - 82 * np.cos(angle)))
        cv2.putText(image, str(hour or 12), at, 0, 0.6, (0, 0, 0), 2, cv2.LINE_AA)
    cv2.line(image, (120, 120), (120, 55), (0, 0, 0), 4, cv2.LINE_AA)
    cv2.line(image, (120, 120), (165, 140), (0, 0, 0), 6, cv2.LINE_AA)
    return image


def crossword() -> Image:
    rng = np.random.default_rng(0)
    image = plain(WHITE, 240, 240)
    for x in range(0, 240, 20):
        for y in range(0, 240, 20):
            filled = -1 if rng.random() < 0.25 else 1
            cv2.rectangle(image, (x, y), (x + 20, y + 20), (0, 0, 0), filled)
    return image


def traffic_light() -> Image:
    image = plain((150, 190, 230))
    cv2.rectangle(image, (120, 15), (200, 225), (30, 30, 30), -1)
    for y, colour in ((50, (255, 40, 30)), (120, (70, 60, 10)), (190, (10, 60, 20))):
        cv2.circle(image, (160, y), 28, colour, -1)
    return image


def card(*lines: tuple[str, int, int], size: tuple[int, int] = (640, 360)) -> Image:
    """Lines of text, (text, x, y of the base line), on a dark card."""
    image = plain((40, 40, 40), *size)
    for text, x, y in lines:
        cv2.putText(image, text, (x, y), cv2.FONT_HERSHEY_DUPLEX, 1.4, WHITE, 2, cv2.LINE_AA)
    return image
