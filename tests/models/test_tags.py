from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reeldb.models.builtin.tags import Tags
from reeldb.schema.models import CaptionRequest, Reply
from tests.models.drawings import clock, crossword, plain

if TYPE_CHECKING:
    from reeldb.schema.models import Image


def caption(*images: Image, prompt: str = "scene") -> Reply:
    [reply] = Tags().caption([CaptionRequest(images, range(len(images)), prompt)])
    return reply


@pytest.mark.parametrize(
    ("images", "text"),
    [
        ([plain((0, 0, 0))] * 2, "Black, still."),
        ([plain((255, 255, 255))], "White."),
        ([plain((40, 40, 40))], "Dark."),
        ([plain((40, 40, 40)), plain((45, 45, 45))], "Dark, little motion."),
        ([plain((0, 0, 0)), plain((255, 255, 255))], "Medium light, much motion."),
        ([clock()], "Looks like: analog clock. Bright."),
        ([crossword()] * 4, "Looks like: crossword. Bright, still."),
    ],
)
def test_the_sentence_says_what_was_measured(images: list[Image], text: str) -> None:
    assert caption(*images) == Reply("ok", text)


def test_nothing_is_named_where_no_class_is_likely() -> None:
    assert caption(clock(), crossword(), *[plain((90, 200, 90))] * 2).text == (
        "Bright, much motion."
    )


def test_no_picture_gives_no_text() -> None:
    assert caption() == Reply("empty", note="no picture")


def test_a_prompt_changes_nothing_and_the_model_says_so() -> None:
    assert caption(clock(), prompt="is there a fish?") == caption(clock())
    assert not Tags.follows_prompts
    assert "answers no prompt" in Tags.cannot
