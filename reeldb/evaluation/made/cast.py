"""Who, where and what there is in made videos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Colour = tuple[int, int, int]
Shape = Literal["circle", "square", "triangle", "diamond"]


@dataclass(frozen=True, slots=True)
class Character:
    """Somebody, drawn as one shape of one colour with the name beneath."""

    name: str
    shape: Shape
    tint: str

    @property
    def called(self) -> str:
        return f"{self.name} the {self.tint} {self.shape}"


TINTS: dict[str, Colour] = {
    "red": (214, 40, 40),
    "blue": (36, 84, 206),
    "yellow": (244, 208, 52),
    "white": (245, 245, 245),
    "purple": (140, 50, 170),
    "orange": (240, 130, 30),
}
CHARACTERS = (
    Character("Ada", "circle", "red"),
    Character("Bruno", "square", "blue"),
    Character("Cleo", "triangle", "yellow"),
    Character("Dario", "diamond", "white"),
    Character("Edda", "circle", "purple"),
    Character("Felix", "square", "orange"),
    Character("Greta", "triangle", "red"),
    Character("Hugo", "diamond", "blue"),
    Character("Ines", "circle", "yellow"),
    Character("Jonas", "square", "white"),
    Character("Kira", "triangle", "purple"),
    Character("Levi", "diamond", "orange"),
)

# Each place: the sky's and the ground's colour, and how its things look (see drawing).
PLACES: dict[str, tuple[Colour, Colour, Colour]] = {
    "harbour": ((150, 200, 235), (30, 80, 140), (120, 70, 40)),
    "forest": ((120, 170, 120), (30, 80, 40), (20, 50, 25)),
    "desert": ((250, 220, 150), (222, 170, 90), (180, 120, 60)),
    "library": ((110, 70, 45), (70, 40, 25), (170, 60, 50)),
    "kitchen": ((235, 235, 225), (170, 190, 200), (200, 60, 60)),
    "market": ((250, 200, 200), (190, 150, 120), (230, 90, 40)),
    "mountain": ((170, 190, 225), (130, 130, 140), (240, 240, 250)),
    "station": ((90, 95, 105), (60, 60, 65), (230, 190, 40)),
    "garden": ((190, 225, 250), (90, 170, 70), (230, 90, 160)),
    "beach": ((120, 205, 250), (245, 225, 170), (250, 110, 80)),
    "cave": ((40, 32, 40), (25, 20, 25), (90, 80, 100)),
    "bridge": ((205, 215, 220), (90, 120, 150), (150, 40, 40)),
    "castle": ((130, 120, 170), (100, 100, 100), (80, 80, 85)),
    "meadow": ((215, 240, 255), (140, 200, 80), (250, 230, 80)),
    "workshop": ((160, 130, 95), (110, 85, 60), (60, 60, 60)),
    "theatre": ((110, 15, 30), (60, 10, 20), (220, 180, 60)),
}
DOES = (
    "hides", "finds", "carries", "paints", "drops", "breaks", "cleans", "lifts", "throws",
    "opens", "mends", "sells", "wraps", "draws", "shakes", "counts",
)  # fmt: skip
PLAIN = {"carries": "carry"}  # the others lose their s
THINGS = (
    "a lamp", "a rope", "a key", "a bell", "a drum", "a kite", "a ladder", "a mirror",
    "a basket", "a clock", "a hat", "a sword", "a book", "a bottle", "a candle", "a chair",
    "a flag", "a globe", "a hammer", "a jar", "a map", "a pot", "a shell", "a wheel",
)  # fmt: skip
SIGNS = (
    "KESTREL", "ORCHID", "MARBLE", "COMET", "WILLOW", "FALCON", "AMBER", "GRANITE", "LAGOON",
    "MAPLE", "NIMBUS", "OSPREY", "PEBBLE", "QUARTZ", "RAVEN", "SAFFRON", "THISTLE", "UMBER",
    "VIOLET", "WALNUT", "ZEPHYR", "BEACON", "CEDAR", "DELTA", "EMBER", "FJORD", "GINGER",
    "HAZEL", "INDIGO", "JASPER",
)  # fmt: skip


def plain(does: str) -> str:
    """The verb as it stands after `does`.

    >>> plain("hides"), plain("carries")
    ('hide', 'carry')
    """
    return PLAIN.get(does, does[:-1])
