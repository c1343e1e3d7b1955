from __future__ import annotations

import numpy as np
import pytest

from reeldb.models.builtin.text_lines import characters, cut, decode
from tests.models.drawings import plain

NAMES = ["", "a", "b", " "]


def chances(path: str, space: dict[int, float] | None = None) -> np.ndarray:
    """Steps that are 0.9 sure of one character each; '-' is blank; `space` adds chances."""
    steps = np.full((len(path), len(NAMES)), 0.02, np.float32)
    for step, name in enumerate(path):
        steps[step, 0 if name == "-" else NAMES.index(name)] = 0.9
    for step, chance in (space or {}).items():
        steps[step, -1] = chance
    return steps


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("-aa-b-", "ab"),
        ("a-ab", "aab"),
        ("aab", "ab"),
        ("a- -b", "a b"),
        ("- a-b -", "ab"),
        ("----", ""),
    ],
)
def test_runs_are_characters_and_blanks_part_them(path: str, text: str) -> None:
    assert decode(chances(path), NAMES)[0] == text


def test_a_likely_gap_becomes_a_space() -> None:
    assert decode(chances("-a--b-", space={2: 0.1}), NAMES)[0] == "a b"
    assert decode(chances("-a--b-", space={0: 0.1, 5: 0.1}), NAMES)[0] == "ab"


def test_confidence_is_the_mean_over_the_characters() -> None:
    assert decode(chances("-a-b-"), NAMES)[1] == pytest.approx(0.9)
    assert decode(chances("---"), NAMES) == ("", 0.0)


def test_the_network_brings_its_characters() -> None:
    assert characters()[0] == ""
    assert characters()[-1] == " "
    assert {"A", "z", "7", "&", "中"} <= set(characters())


def test_a_slanted_box_is_cut_out_upright() -> None:
    image = plain((0, 0, 0), 200, 200)
    image[100:, :] = 255
    corners = np.array([[50, 60], [150, 60], [150, 140], [50, 140]], np.float32)
    line = cut(image, corners)
    assert line.shape == (80, 100, 3)
    assert line[:38].max() == 0
    assert line[42:].min() == 255


def test_a_tall_box_is_turned_on_its_side() -> None:
    corners = np.array([[10, 10], [30, 10], [30, 110], [10, 110]], np.float32)
    assert cut(plain((0, 0, 0), 200, 200), corners).shape == (20, 100, 3)
