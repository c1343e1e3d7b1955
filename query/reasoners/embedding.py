"""The reasoner without a language model: relevance and option choice by similarity.

LazySloth's CLIPScore ablation is the source of the idea (LazySloth, ablations): where no
chat model is at hand, a comparison of vectors stands in for it. It cannot reason, count or
negate, and every answer says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from reeldb.query.answer import Choice
    from reeldb.query.task import Seen, Task
    from reeldb.schema.models import Vectors

TEMPERATURE = 0.05  # cosines of short texts differ by a few hundredths


class EmbeddingReasoner:
    """Judges what was seen by the cosines of its pictures and of its texts."""

    name: ClassVar[str] = "embedding"
    note: ClassVar[str] = (
        "answered by similarity, without a language model: it cannot reason, count or negate"
    )

    def __init__(self, task: Task) -> None:
        self._task = task

    def relevance(self, texts: Sequence[str], seen: Sequence[Seen]) -> Vectors:
        """Cosines of shape (texts, seen): the mean of what the picture and what was read of it
        say; where only one of the two exists, that one; 0 where neither does."""
        parts = np.stack([self._pictures(texts, seen), self._words(texts, seen)])
        known = np.isfinite(parts).sum(axis=0)
        return np.asarray(np.nansum(parts, axis=0) / np.maximum(1, known), np.float32)

    def choose(self, choices: Sequence[Choice], seen: Sequence[Seen]) -> tuple[int, float, Vectors]:
        """The number of the option with the best single witness, its share of belief (a softmax
        over the options' best cosines), and how well each thing seen speaks for it."""
        scores = self.relevance([c.text for c in choices], seen)
        best = scores.max(axis=1)
        belief = np.exp((best - best.max()) / TEMPERATURE)
        winner = int(np.argmax(best))
        return winner, float(belief[winner] / belief.sum()), scores[winner]

    def _pictures(self, texts: Sequence[str], seen: Sequence[Seen]) -> Vectors:
        return self._task.picture_cosines(texts, [s.picture for s in seen])

    def _words(self, texts: Sequence[str], seen: Sequence[Seen]) -> Vectors:
        cosines = np.full((len(texts), len(seen)), np.nan, np.float32)
        read = [i for i, s in enumerate(seen) if s.words]
        if read:
            embed = self._task.text_embedder.embed_texts
            cosines[:, read] = embed(list(texts)) @ embed([seen[i].words for i in read]).T
        return cosines
