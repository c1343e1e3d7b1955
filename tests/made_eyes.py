"""An embedder for made videos: it reads a picture's time code and knows what is true then.

`seeing:FOLDER` is its address. A picture is the sum of the words of the facts that are visible,
a text that of its own, so they are near when they share words: a CLIP that understands drawings.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reeldb.evaluation.benchmark import EVENTS, read_lines
from reeldb.evaluation.timecode import read_stamp
from reeldb.schema.digests import digest
from tests.witness import words

if TYPE_CHECKING:
    from reeldb.schema.models import Image, Vectors

DIM = 256
NOISE = 0.1  # of a picture's own, so that no two pictures are equal


def load(address: str, role: str, config: object) -> Eyes:
    return Eyes(address)


class Eyes:
    can, cannot = "made videos, by their time code", "anything else"
    batch_size = 64
    image_size = (224, 224)
    dim = DIM

    def __init__(self, address: str) -> None:
        self.address = self.identity = address
        self.space = "seeing"
        self._facts = facts(Path(address.partition(":")[2]))

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        return np.stack([self._picture(image) for image in images])

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        return np.stack([_unit(_sum(words(text))) for text in texts])

    def _picture(self, image: Image) -> Vectors:
        moment = read_stamp(image)
        if moment is None:
            return np.full(DIM, np.nan, np.float32)
        seen = frozenset[str]().union(*(words(f["text"]) for f in at(self._facts, moment)))
        noise = np.random.default_rng([moment[0], round(moment[1] * 1000)]).standard_normal(DIM)
        return _unit(_unit(_sum(seen)) + NOISE * _unit(noise))


def facts(folder: Path) -> list[dict[str, Any]]:
    return [row for row, _ in read_lines(folder / EVENTS)]


def at(known: Sequence[dict[str, Any]], moment: tuple[int, float]) -> list[dict[str, Any]]:
    """The facts that are true at a moment."""
    code, t_s = moment
    return [f for f in known if f["code"] == code and f["start_s"] <= t_s < f["end_s"]]


def _sum(said: frozenset[str]) -> np.ndarray[Any, Any]:
    return np.asarray(np.sum([_direction(w) for w in sorted(said)] or [np.zeros(DIM)], axis=0))


@lru_cache(maxsize=4096)
def _direction(word: str) -> np.ndarray[Any, Any]:
    seed = int(digest(word)[:12], 16)
    return np.asarray(np.random.default_rng(seed).standard_normal(DIM))


def _unit(vector: np.ndarray[Any, Any]) -> Vectors:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length else vector, np.float32)
