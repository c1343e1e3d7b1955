"""How a moment of a made video looks.

Each place has its own colours and shapes, each character a shape with the name beneath, a sign
is a white board, and what happens is drawn as the character beside the thing and written in a
band at the bottom. All of it is large enough for a reader of on-screen text.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import cv2
import numpy as np

from reeldb.evaluation.made.cast import CHARACTERS, PLACES, THINGS, TINTS, Character, Colour
from reeldb.evaluation.made.script import Fact, Scene
from reeldb.evaluation.timecode import STRIP, Picture

BY_NAME = {c.name: c for c in CHARACTERS}
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_INK, _PAPER = (10, 10, 10), (250, 250, 250)


def moment(scene: Scene, acts: Sequence[Fact], t_s: float, size: tuple[int, int]) -> Picture:
    """What the scene shows at `t_s` while these actions go on; `size` is (width, height)."""
    width, height = size
    picture = background(scene.where, scene.number, scene.sign, size).copy()
    names = [BY_NAME[f.who] for f in acts]
    shown = [*names, *(c for c in scene.present if c not in names)]
    for i, character in enumerate(shown):
        sway = round(np.sin(t_s * 1.3 + i) * width * 0.012)
        x = round(width * (i + 1) / (len(shown) + 1)) + sway
        _character(picture, character, x, round(height * 0.62), round(height * 0.1))
    for i, fact in enumerate(acts):
        x = round(width * (i + 1) / (len(shown) + 1) + height * 0.2)
        _thing(picture, fact.what, x, round(height * 0.5), round(height * 0.055))
        _written(picture, f"{fact.who} {fact.does} {fact.what}")
    return picture


@lru_cache(maxsize=64)
def background(where: str, number: int, sign: str, size: tuple[int, int]) -> Picture:
    """The place, in a light of the scene's own."""
    width, height = size
    dice = random.Random(f"{where} {number}")
    light = dice.uniform(0.82, 1.08)
    sky, ground, detail = (_lit(c, light) for c in PLACES[where])
    picture = np.empty((height, width, 3), np.uint8)
    horizon = round(height * dice.uniform(0.45, 0.6))
    picture[:horizon], picture[horizon:] = sky, ground
    pattern = list(PLACES).index(where)
    for i in range(5 + pattern % 4):
        x = round(width * (i + 0.5 + dice.uniform(-0.2, 0.2)) / (5 + pattern % 4))
        _detail(picture, pattern, x, horizon, round(height * dice.uniform(0.1, 0.22)), detail)
    if sign:
        _board(picture, sign)
    return picture


def _lit(colour: Colour, light: float) -> Colour:
    red, green, blue = (min(255, round(c * light)) for c in colour)
    return red, green, blue


def _detail(p: Picture, pattern: int, x: int, y: int, size: int, colour: Colour) -> None:
    """One of the things that make a place look like itself."""
    canvas: Any = p
    match pattern % 5:
        case 0:
            cv2.rectangle(canvas, (x - size // 2, y - size), (x + size // 2, y), colour, -1)
        case 1:
            corners = np.array([(x, y - 2 * size), (x - size, y), (x + size, y)])
            cv2.fillPoly(canvas, [corners], colour)
        case 2:
            cv2.ellipse(canvas, (x, y), (size, size // 2), 0, 180, 360, colour, -1)
        case 3:
            cv2.rectangle(canvas, (x - 3, y - 2 * size), (x + 3, y + size), colour, -1)
        case _:
            cv2.circle(canvas, (x, y - size // 2), size // 2, colour, -1)


def _character(p: Picture, who: Character, x: int, y: int, r: int) -> None:
    canvas: Any = p
    tint = TINTS[who.tint]
    match who.shape:
        case "circle":
            cv2.circle(canvas, (x, y), r, tint, -1)
            cv2.circle(canvas, (x, y), r, _INK, 1)
        case "square":
            cv2.rectangle(canvas, (x - r, y - r), (x + r, y + r), tint, -1)
            cv2.rectangle(canvas, (x - r, y - r), (x + r, y + r), _INK, 1)
        case "triangle":
            _polygon(canvas, [(x, y - r), (x - r, y + r), (x + r, y + r)], tint)
        case "diamond":
            _polygon(canvas, [(x, y - r), (x - r, y), (x, y + r), (x + r, y)], tint)
    _label(p, who.name, x, y + r + 2)


def _polygon(canvas: Any, corners: Sequence[tuple[int, int]], tint: Colour) -> None:
    points = np.array(corners)
    cv2.fillPoly(canvas, [points], tint)
    cv2.polylines(canvas, [points], True, _INK, 1)


def _thing(p: Picture, what: str, x: int, y: int, r: int) -> None:
    """A small shape of the thing's own."""
    canvas: Any = p
    number = THINGS.index(what)
    hue = np.array([[[number * 180 // len(THINGS), 220, 230]]], np.uint8)
    red, green, blue = (int(c) for c in cv2.cvtColor(hue, cv2.COLOR_HSV2RGB)[0, 0])
    corners = cv2.ellipse2Poly((x, y), (r, r), number * 11, 0, 360, 360 // (3 + number % 5))
    _polygon(canvas, [(int(a), int(b)) for a, b in corners], (red, green, blue))


def _board(p: Picture, text: str) -> None:
    """A white board with the sign's text, below the strip."""
    height, width = p.shape[:2]
    scale, thick = height / 260, max(1, round(height / 180))
    (wide, high), _ = cv2.getTextSize(text, _FONT, scale, thick)
    left, top = round(width * 0.04), height // STRIP + round(height * 0.05)
    canvas: Any = p
    cv2.rectangle(canvas, (left, top), (left + wide + 12, top + high + 12), _PAPER, -1)
    cv2.rectangle(canvas, (left, top), (left + wide + 12, top + high + 12), _INK, 1)
    cv2.putText(canvas, text, (left + 6, top + high + 6), _FONT, scale, _INK, thick, cv2.LINE_AA)


def _label(p: Picture, text: str, x: int, y: int) -> None:
    """A name on a small white plate, centred under (x, y)."""
    scale = p.shape[0] / 400
    (wide, high), _ = cv2.getTextSize(text, _FONT, scale, 1)
    canvas: Any = p
    left = x - wide // 2
    cv2.rectangle(canvas, (left - 3, y), (left + wide + 3, y + high + 6), _PAPER, -1)
    cv2.putText(canvas, text, (left, y + high + 2), _FONT, scale, _INK, 1, cv2.LINE_AA)


def _written(p: Picture, text: str) -> None:
    """A band with text at the bottom, as subtitles are."""
    height, width = p.shape[:2]
    scale = height / 330
    (wide, high), _ = cv2.getTextSize(text, _FONT, scale, 1)
    canvas: Any = p
    p[height - high - 10 :] = _INK
    where = ((width - wide) // 2, height - 6)
    cv2.putText(canvas, text, where, _FONT, scale, _PAPER, 1, cv2.LINE_AA)
