"""`builtin:tags`: a plain, deterministic sentence about pictures, without a language model.

It says what it measured and nothing else: class names above a threshold, brightness, and how
much the pictures differ. It reads no prompt, so it can answer no question.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import cv2
import numpy as np

from reeldb.models.builtin import labels
from reeldb.models.builtin.weights import version
from reeldb.schema.models import CaptionRequest, Reply

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reeldb.schema.models import Image

METHOD = "tags 1"
SURE = 0.3  # a class is named where its mean probability over the pictures is at least this
NAMES = 3  # class names at most
SMALL = (64, 36)  # pixels: the size that brightness and motion are measured at
BLACK, DARK, BRIGHT, WHITE = 10, 64, 160, 245  # mean luma, 0..255
PLAIN = 1  # standard deviation of luma: below, there is nothing to see
STILL, MUCH = 2, 16  # mean absolute difference of luma between neighbouring pictures


class Tags:
    """Captions such as "Looks like: gondola, lakeside. Bright, little motion." """

    address = "builtin:tags"
    can = "one plain sentence: likely ImageNet class names, brightness, motion"
    cannot = (
        "no people, actions, colours or relations, answers no prompt; class names are guesses, "
        "near chance on drawings and animated films"
    )
    batch_size = 8
    image_size = 320
    follows_prompts = False

    def __init__(self) -> None:
        self.identity = f"builtin:tags@{version(METHOD, labels.NETWORK, labels.NAMES)}"

    def caption(self, requests: Sequence[CaptionRequest]) -> list[Reply]:
        """One sentence a request, whatever its prompt; `empty` where it holds no picture."""
        return [self._one(request.images) for request in requests]

    def _one(self, images: Sequence[Image]) -> Reply:
        if not images:
            return Reply("empty", note="no picture")
        lumas = [_luma(image) for image in images]
        scenery = ", ".join(x for x in (brightness(lumas), motion(lumas)) if x)
        names = [] if all(luma.std() < PLAIN for luma in lumas) else _names(images)
        seen = f"Looks like: {', '.join(names)}. " if names else ""
        return Reply("ok", f"{seen}{scenery}.")


def _luma(image: Image) -> NDArray[np.float32]:
    small = cv2.resize(image, SMALL, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), np.float32)


def _names(images: Sequence[Image]) -> list[str]:
    mean = labels.probabilities(images).mean(axis=0)
    sure = [name for name, p in labels.likeliest(mean)[:NAMES] if p >= SURE]
    return [name.partition(" (")[0] for name in sure]  # "kite (bird of prey)"


def brightness(lumas: Sequence[NDArray[np.float32]]) -> str:
    """One word for the mean luma of small pictures."""
    mean = float(np.mean([luma.mean() for luma in lumas]))
    if all(luma.std() < PLAIN for luma in lumas) and not BLACK <= mean < WHITE:
        return "Black" if mean < BLACK else "White"
    if mean < DARK:
        return "Dark"
    return "Bright" if mean >= BRIGHT else "Medium light"


def motion(lumas: Sequence[NDArray[np.float32]]) -> str:
    """How much neighbouring pictures differ; '' for a single one, which cannot tell."""
    if len(lumas) < 2:
        return ""
    change = float(np.mean([np.abs(a - b).mean() for a, b in pairwise(lumas)]))
    if change < STILL:
        return "still"
    return "much motion" if change >= MUCH else "little motion"
