from __future__ import annotations

import numpy as np
import pytest

from reeldb.models.builtin.text_boxes import (
    clockwise,
    input_size,
    reading_order,
    sides,
    text_boxes,
)
from tests.models.drawings import card, plain


def box(x: float, y: float, wide: float = 50, high: float = 20) -> np.ndarray:
    return np.array([[x, y], [x + wide, y], [x + wide, y + high], [x, y + high]], np.float32)


@pytest.mark.parametrize(
    ("width", "height", "seen"),
    [
        (1280, 720, (1280, 704)),
        (320, 180, (1280, 704)),
        (3840, 2160, (1280, 704)),
        (720, 1280, (704, 1280)),
        (2000, 10, (1280, 32)),
        (1, 1, (736, 736)),
    ],
)
def test_pictures_are_scaled_to_multiples_of_32(
    width: int, height: int, seen: tuple[int, int]
) -> None:
    assert input_size(width, height) == seen


def test_corners_run_clockwise_from_the_top_left() -> None:
    corners = box(10, 20)
    np.testing.assert_array_equal(clockwise(corners[[2, 0, 3, 1]]), corners)
    assert sides(corners) == (50, 20)


def test_rows_are_read_from_left_to_right() -> None:
    boxes = [box(200, 12), box(10, 100), box(10, 10), box(100, 104)]
    order = [tuple(b[0]) for b in reading_order(boxes)]
    assert order == [(10, 10), (200, 12), (10, 100), (100, 104)]


def test_a_box_lies_around_its_text() -> None:
    [corners] = text_boxes(card(("HELLO WORLD", 60, 120)))
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    assert 40 < x0 < 66 and 78 < y0 < 96
    assert 320 < x1 < 420 and 118 < y1 < 136


def test_a_picture_without_text_has_no_boxes() -> None:
    assert text_boxes(plain((90, 120, 60))) == []
