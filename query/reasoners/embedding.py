"""The reasoner without a language model: relevance and option choice by similarity.

LazySloth's CLIPScore ablation is the source of the idea (LazySloth, ablations): where no
chat model is at hand, a vector comparison stands in for it. It cannot reason, count or
negate, and says so in every answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reeldb.query.answer import Choice

if TYPE_CHECKING:
    from reeldb.schema.models import TextEmbedder, Vectors

TEMPERATURE = 0.05  # cosines of short texts differ by a few hundredths


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing looked at: what was read of it, and the vector of its picture (or None)."""

    text: str
    vector: Vectors | None


@dataclass(frozen=True, slots=True)
class EmbeddingReasoner:
    """`pictures` is the embedder of the picture vectors, `texts` the text embedder."""

    pictures: TextEmbedder | None
    texts: TextEmbedder

    name = "embedding"
    note = (
        "answered by similarity, without a language model: it cannot reason, count or negate; "
        "name one with: reel models set chat ADDRESS"
    )

    def relevance(self, query: str, seen: Sequence[Seen]) -> Vectors:
        """How well each thing seen fits the text: mean of picture and text cosine, -1..1."""
        return self._scores([query], seen)[0]

    def choose(
        self, question: str, choices: Sequence[Choice], seen: Sequence[Seen]
    ) -> tuple[Choice, float]:
        """The option with the best single witness among all things seen, and its share of
        belief: a softmax over the options' best cosines."""
        best = self._scores([c.text for c in choices], seen).max(axis=1)
        belief = np.exp((best - best.max()) / TEMPERATURE)
        winner = int(np.argmax(best))
        return choices[winner], float(belief[winner] / belief.sum())

    def _scores(self, queries: Sequence[str], seen: Sequence[Seen]) -> Vectors:
        """Cosines of shape (queries, seen); a missing picture or text leaves the other alone."""
        parts = []
        vectors = [s.vector for s in seen]
        if self.pictures is not None and any(v is not None for v in vectors):
            width = self.pictures.dim
            matrix = np.stack(
                [np.full(width, np.nan, np.float32) if v is None else v for v in vectors]
            )
            parts.append(self.pictures.embed_texts(list(queries)) @ matrix.T)
        if any(s.text for s in seen):
            matrix = self.texts.embed_texts([s.text or " " for s in seen])
            cosines = self.texts.embed_texts(list(queries)) @ matrix.T
            cosines[:, [not s.text for s in seen]] = np.nan
            parts.append(cosines)
        if not parts:
            return np.zeros((len(queries), len(seen)), np.float32)
        stacked = np.stack(parts)
        count = np.maximum(1, np.isfinite(stacked).sum(axis=0))
        return np.asarray(np.nansum(stacked, axis=0) / count, np.float32)
