from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import av
import cv2
import numpy as np
import pytest

from reeldb.models.builtin.ocr import Ocr
from tests.models.drawings import card, plain

if TYPE_CHECKING:
    from reeldb.schema.models import Image


@pytest.fixture(scope="module")
def ocr() -> Ocr:
    return Ocr()


def read(ocr: Ocr, image: Image) -> list[str]:
    return [found.text for found in ocr.look([image])[0].found]


def test_lines_are_read_in_reading_order(ocr: Ocr) -> None:
    image = card(("RIGHT", 360, 262), ("HELLO WORLD", 60, 120), ("LEFT", 40, 265))
    assert read(ocr, image) == ["HELLO WORLD", "LEFT", "RIGHT"]


def test_boxes_are_shares_of_the_picture(ocr: Ocr) -> None:
    [found] = ocr.look([card(("RIGHT", 400, 300))])[0].found
    x0, y0, x1, y1 = found.box
    assert 0.55 < x0 < 0.65 < x1 < 0.9
    assert 0.65 < y0 < 0.8 < y1 < 0.9
    assert found.confidence > 0.8


def test_turned_lines_are_read_too(ocr: Ocr) -> None:
    image = cv2.rotate(card(("VERTICAL TEXT", 60, 120), size=(640, 200)), cv2.ROTATE_90_CLOCKWISE)
    assert read(ocr, np.asarray(image, np.uint8)) == ["VERTICAL TEXT"]


def test_a_picture_without_text_is_empty(ocr: Ocr) -> None:
    assert [look.status for look in ocr.look([plain((0, 0, 0)), plain((99, 9, 9))])] == [
        "empty"
    ] * 2


def test_odd_pictures_are_looked_at_without_a_crash(ocr: Ocr) -> None:
    odd = [plain((9, 9, 9), 1, 1), plain((9, 9, 9), 2000, 9), plain((9, 9, 9), 9, 2000)]
    assert [look.status for look in ocr.look(odd)] == ["empty"] * 3


def test_a_picture_without_pixels_failed_and_the_rest_is_read(ocr: Ocr) -> None:
    looks = ocr.look([np.zeros((0, 5, 3), np.uint8), card(("EXIT", 60, 120))])
    assert [look.status for look in looks] == ["failed", "ok"]
    assert "shape (0, 5, 3)" in looks[0].note


def test_a_view_of_a_picture_is_taken(ocr: Ocr) -> None:
    assert read(ocr, card(("EXIT", 60, 120))[:, ::-1][:, ::-1]) == ["EXIT"]


def shown_at(path: Path, time_s: float) -> Image:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert stream.time_base is not None
        first = stream.start_time or 0
        container.seek(first + int(Fraction(time_s) / stream.time_base), stream=stream)
        last = None
        for frame in container.decode(stream):
            if frame.pts is not None and (frame.pts - first) * stream.time_base > time_s:
                break
            last = frame
        assert last is not None
        return np.asarray(last.to_ndarray(format="rgb24"), np.uint8)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "time_s", "text"),
    [
        ("big_buck_bunny.mp4", 23, "THE PEACH OPEN MOVIE PROJECT"),
        ("big_buck_bunny.mp4", 492, "SACHA GOEDEGEBURE"),
        ("big_buck_bunny.mp4", 577, "Ton Roosendaal"),
        ("bbb_trailer.mp4", 12, "An unlucky bird"),
        ("sintel_trailer.mp4", 11, "THE BLENDER FOUNDATION"),
        ("googlework_short.mp4", 11, "Google"),
        ("googlework_short.mp4", 21, "CARLO"),
    ],
)
def test_titles_of_real_videos_are_read(
    ocr: Ocr, shared_videos: Path, name: str, time_s: float, text: str
) -> None:
    seen = " ".join(read(ocr, shown_at(shared_videos / "real" / name, time_s)))
    assert text in seen
