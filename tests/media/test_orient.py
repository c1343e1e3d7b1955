from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from reeldb.media.decode import Decoding
from reeldb.media.orient import Orientation, sane_aspect, shown_size, upright
from reeldb.media.pictures import pictures_at
from reeldb.media.probe import probe
from tests.clips import Picture, near, solid, write_clip

CORNERS = ("red", "lime", "blue", "white")  # top left, top right, bottom left, bottom right
SHOWN = {  # how a player shows the corners, mirrored first and then turned clockwise
    (0, False): ("red", "lime", "blue", "white"),
    (90, False): ("blue", "red", "white", "lime"),
    (180, False): ("white", "blue", "lime", "red"),
    (270, False): ("lime", "white", "red", "blue"),
    (0, True): ("lime", "red", "white", "blue"),
    (90, True): ("white", "lime", "blue", "red"),
    (180, True): ("blue", "white", "red", "lime"),
    (270, True): ("red", "blue", "lime", "white"),
}


def quarters() -> Picture:
    a, b, c, d = (solid(colour, (80, 60)) for colour in CORNERS)
    return np.vstack([np.hstack([a, b]), np.hstack([c, d])])


def corners(image: Picture) -> tuple[str, ...]:
    h, w = image.shape[0] // 2, image.shape[1] // 2
    parts = (image[:h, :w], image[:h, w:], image[h:, :w], image[h:, w:])
    return tuple(next(c for c in CORNERS if near(part, c, 40)) for part in parts)


@pytest.mark.parametrize(("turn", "mirror"), SHOWN)
def test_pictures_are_turned_and_mirrored_as_a_player_shows_them(
    tmp_path: Path, turn: int, mirror: bool
) -> None:
    clip = tmp_path / "clip.mp4"
    write_clip(clip, [(0.0, quarters()), (0.04, quarters())], rotate=turn, mirror=mirror)
    facts = probe(clip)
    image = pictures_at(clip, [0.0])[0]
    assert (facts.rotation, facts.mirrored) == (turn, mirror)
    assert image.shape[:2] == (facts.height, facts.width)
    assert corners(image) == SHOWN[turn, mirror]


def test_stored_pictures_are_brought_upright_the_same_way() -> None:
    for (turn, mirror), shown in SHOWN.items():
        assert corners(upright(quarters(), Orientation(turn, mirror))) == shown


def test_pixel_aspect_widens_the_picture_before_it_is_turned(tmp_path: Path) -> None:
    clip = tmp_path / "clip.mp4"
    write_clip(clip, [(0.0, quarters())], sar=Fraction(4, 3), rotate=90)
    facts = probe(clip)
    assert (facts.coded_width, facts.coded_height) == (160, 120)
    assert (facts.width, facts.height) == (120, 213)
    assert pictures_at(clip, [0.0])[0].shape == (213, 120, 3)


def test_an_absurd_pixel_aspect_is_ignored() -> None:
    assert sane_aspect(Fraction(1, 100)) == sane_aspect(None) == 1
    assert shown_size(720, 576, Orientation(sar=Fraction(16, 15))) == (768, 576)


def test_the_decode_itself_leaves_pictures_as_stored(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "clip.mp4", [(0.0, quarters())], rotate=90)
    with Decoding(clip) as decoding:
        shown = next(iter(decoding))
    assert (shown.frame.width, shown.frame.height) == (160, 120)
