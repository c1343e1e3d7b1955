"""CLIPScore (Hessel et al. 2021): how well a text fits a picture, without a reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reeldb.schema.errors import EvaluationError
from reeldb.schema.models import Embedder

if TYPE_CHECKING:
    from reeldb.schema.models import Image

WEIGHT = 2.5
PREFIX = "A photo depicts "  # the paper's, section 3


def clipscore(
    embedder: Embedder, images: Sequence[Image], texts: Sequence[str], *, prefix: str = PREFIX
) -> list[float]:
    """2.5 max(cosine, 0) of each picture with its text, 0 to 2.5.

    Figures of papers are of CLIP ViT-B/32; with another embedder they are on another scale. NaN
    for a picture that the embedder could not read. Pictures should have the embedder's size.
    Raises EvaluationError where pictures and texts do not pair.
    """
    if len(images) != len(texts):
        raise EvaluationError(f"{len(images)} pictures for {len(texts)} texts; give one a text")
    a = np.asarray(embedder.embed_images(images), np.float64)
    b = np.asarray(embedder.embed_texts([prefix + t for t in texts]), np.float64)
    return [float(v) for v in WEIGHT * np.maximum(np.einsum("nd,nd->n", a, b), 0)]
