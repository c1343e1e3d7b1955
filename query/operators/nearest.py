"""Vectors of grid pictures, and their cosines with texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reeldb.index.vectors import VectorSearch, best_of
from reeldb.query.operators.grid import Grid, Picture
from reeldb.query.similar import Similarity

if TYPE_CHECKING:
    from reeldb.schema.models import Vectors


class PictureVectors:
    """The stored vectors of pictures, in the space of the embedder in use.

    Raises BindError where the archive has no vectors of that space.
    """

    def __init__(self, similarity: Similarity) -> None:
        self._embedder = similarity.embedder()
        self._search: VectorSearch = similarity.vectors()

    def of(self, pictures: Sequence[Picture]) -> Vectors:
        """Unit vectors of shape (pictures, dim), float32; a row of NaN where there is none."""
        at = self._search.rows_for("frames")[_rows(pictures)]
        out = np.full((len(at), self._search.dim), np.nan, np.float32)
        there = at >= 0
        out[there] = self._search.matrix.vectors[at[there]]
        return out

    def of_texts(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (texts, dim) in the pictures' space."""
        return np.asarray(self._embedder.embed_texts(list(texts)), np.float32)

    def cosines(self, texts: Sequence[str], pictures: Sequence[Picture]) -> Vectors:
        """Cosines of shape (texts, pictures); NaN where a picture has no vector."""
        return np.asarray(self.of_texts(texts) @ self.of(pictures).T, np.float32)

    def best(self, text: str, k: int, grid: Grid) -> list[tuple[int, float]]:
        """The k pictures most like the text, best first: their places in the grid, and cosines."""
        vector = self.of_texts([text])[0]
        scores = self._search.scores_for("frames", vector, grid.rows)
        places = best_of(scores, k)
        return list(zip(places.tolist(), scores[places].tolist(), strict=True))


def _rows(pictures: Sequence[Picture]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if isinstance(pictures, Grid):
        return pictures.rows
    return np.array([p.row for p in pictures], np.int64)
