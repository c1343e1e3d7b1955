"""`builtin:labels`: pictures and texts in one space, by ConSE (Norouzi et al. 2014).

EfficientNet-Lite0 gives a picture probabilities of the 1000 ImageNet classes; its vector is the
mean of the MiniLM vectors of its TOP likeliest class names, weighted by probability. A text's
vector is its MiniLM vector. A fallback for machines without a model hub: 26 variants of it were
tried on an animated film, none clearly better than chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from reeldb.models.builtin import minilm
from reeldb.models.builtin.session import outputs
from reeldb.models.builtin.weights import version, weight_file
from reeldb.schema.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reeldb.schema.models import Image, Vectors

NETWORK = "lite0.onnx"
NAMES = "labels.txt"
VECTORS = "label_vectors.npy"
SIZE = (224, 224)
TOP = 10

Label = tuple[str, float]


class Labels:
    """Pictures by what ImageNet would call them, texts by meaning."""

    address = "builtin:labels"
    can = "finds some animals, objects, vehicles and places in photographs, by 1000 class names"
    cannot = (
        "not CLIP: no people, colours, actions, counts or relations; near chance on drawings "
        "and animated films"
    )
    dim = minilm.DIM
    image_size = SIZE
    batch_size = 8

    def __init__(self) -> None:
        files = (NETWORK, NAMES, VECTORS, minilm.NETWORK, minilm.TOKENIZER)
        self.identity = f"builtin:labels@{version(f'conse {TOP}', *files)}"
        self.space = self.identity
        self._texts = minilm.MiniLM()

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        """One row a picture, shape (n, 384). Raises ModelError where a picture is not RGB."""
        p = probabilities(images)
        top = np.argpartition(p, -TOP, axis=1)[:, -TOP:]
        weights = np.take_along_axis(p, top, axis=1)
        return minilm.unit(np.einsum("nk,nkd->nd", weights, _label_vectors()[top]))

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """One row a text, shape (n, 384)."""
        return self._texts.embed_texts(texts)

    def labels(self, images: Sequence[Image]) -> list[list[Label]]:
        """The TOP likeliest class names of each picture and their probabilities."""
        return [likeliest(row) for row in probabilities(images)]


def likeliest(p: NDArray[np.float32]) -> list[Label]:
    """The TOP likeliest names of one row of `probabilities`; none where it is not finite."""
    if not np.isfinite(p).all():
        return []
    order = np.argsort(-p, kind="stable")[:TOP]
    return [(label_names()[i], float(p[i])) for i in order]


def probabilities(images: Sequence[Image]) -> NDArray[np.float32]:
    """Each picture's probability of each class, shape (n, 1000); NaN where the network failed.

    One picture a run: as fast as a batch, in a third of its memory.
    """
    logits = np.empty((len(images), len(label_names())), np.float32)
    for row, image in enumerate(images):
        logits[row] = outputs(NETWORK, pictures=_fitted(image)[None])[1][0]
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), np.float32)


def _fitted(image: Image) -> Image:
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or not image.size:
        raise ModelError(
            f"builtin:labels takes RGB pictures, uint8 of shape (height, width, 3), "
            f"not {image.dtype} of shape {image.shape}"
        )
    if image.shape[:2] == SIZE[::-1]:
        return np.ascontiguousarray(image)
    import cv2  # a query embeds text only and must not wait for it

    return np.asarray(cv2.resize(image, SIZE, interpolation=cv2.INTER_AREA), np.uint8)


@cache
def label_names() -> list[str]:
    """The class names, in the order of the network's logits."""
    return weight_file(NAMES).read_text("utf-8").splitlines()


@cache
def _label_vectors() -> Vectors:
    vectors: Vectors = np.load(weight_file(VECTORS), allow_pickle=False).astype(np.float32)
    return vectors
