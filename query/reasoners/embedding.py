"""The reasoner without a language model: relevance, branch and option choice by similarity.

LazySloth's CLIPScore ablation is the source of the idea (LazySloth, ablations): where no
chat model is at hand, a comparison of vectors stands in for it. It cannot reason, count or
negate, and every answer says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reeldb.query.reasoners.mentioned import mentioned
from reeldb.query.reasoners.protocol import Action, Conclusion, View

if TYPE_CHECKING:
    from reeldb.query.answer import Choice
    from reeldb.query.task import Picture, Seen, Task
    from reeldb.schema.models import Vectors

TEMPERATURE = 0.05  # cosines of short texts differ by a few hundredths
HIGH = 1.0  # standard deviations above the mean from which a thing is highly relevant


class EmbeddingReasoner:
    """Judges what was seen by the cosines of its pictures and of its texts."""

    name: ClassVar[str] = "embedding"
    note: ClassVar[str] = (
        "answered by similarity, without a language model: it cannot reason, count or negate"
    )

    def __init__(self, task: Task) -> None:
        self._task = task

    @property
    def sees(self) -> bool:
        return self._task.has_vectors()

    def relevance(self, seen: Sequence[Seen]) -> list[int]:
        """3 from a standard deviation above the mean cosine on, 2 above the mean, else 1."""
        if not seen:
            return []
        scores = self.cosines(self._wanted(), seen).max(axis=0)
        mean, deviation = float(scores.mean()), float(scores.std())
        if deviation < 1e-6:
            return [2] * len(seen)
        return [3 if s >= mean + HIGH * deviation else 2 if s > mean else 1 for s in scores]

    def act(self, view: View) -> Action:
        """Greedy best-first: into the likeliest closed node, and to the end once pictures are
        there."""
        closed = [(i, s) for i, s in view.nodes if i in view.actions and i not in view.opened]
        if view.details or not closed:
            return Action("ANSWER")
        scores = self.cosines(self._wanted(), [s for _, s in closed]).max(axis=0)
        node = closed[int(np.argmax(scores))][0]
        return Action("DRILL" if view.actions[node] == "DRILL" else "EXPAND", node)

    def conclude(self, seen: Sequence[Seen], pictures: Sequence[Picture] = ()) -> Conclusion:
        """The option, or the thing seen, that is most similar; single pictures, where there are
        any, count before long stretches, which hold a bit of everything."""
        seen = [s for s in seen if s.start_s == s.end_s] or list(seen)
        if not seen:
            return Conclusion("", None, None, status="insufficient")
        if self._task.choices:
            winner, belief, support = self.choose(self._task.choices, seen)
            choice = self._task.choices[winner]
            text, confidence = choice.text, belief
        else:
            choice, support = None, self.cosines([self._task.question], seen)[0]
            best = seen[int(np.argmax(support))]
            text = best.words.replace("\n", "; ") or "see the evidence; nothing could be read there"
            confidence = float(np.clip(support.max(), 0, 1))
        order = np.argsort(-support, kind="stable")
        return Conclusion(text, choice, confidence, tuple(seen[i] for i in order))

    def choose(self, choices: Sequence[Choice], seen: Sequence[Seen]) -> tuple[int, float, Vectors]:
        """The number of the option with the best single witness, its share of belief (a softmax
        over the options' best scores), and how well each thing seen speaks for it.

        A score is the cosine, and one more where the option stands word for word in what was
        read or heard: a name or a number on a sign is worth more than any likeness.
        """
        texts = [c.text for c in choices]
        scores = self.cosines(texts, seen) + mentioned(texts, [s.words for s in seen])
        best = scores.max(axis=1)
        belief = np.exp((best - best.max()) / TEMPERATURE)
        winner = int(np.argmax(best))
        return winner, float(belief[winner] / belief.sum()), scores[winner]

    def cosines(self, texts: Sequence[str], seen: Sequence[Seen]) -> Vectors:
        """Cosines of shape (texts, seen): the mean of what the pictures and what was read of
        them say; where only one of the two exists, that one; 0 where neither does."""
        parts = np.stack([self._pictures(texts, seen), self._words(texts, seen)])
        known = np.isfinite(parts).sum(axis=0)
        return np.asarray(np.nansum(parts, axis=0) / np.maximum(1, known), np.float32)

    def _wanted(self) -> list[str]:
        """What counts as relevant: the question, and each of its options."""
        return [self._task.question, *(c.text for c in self._task.choices)]

    def _pictures(self, texts: Sequence[str], seen: Sequence[Seen]) -> Vectors:
        """The best cosine among the pictures of each thing seen."""
        out = np.full((len(texts), len(seen)), np.nan, np.float32)
        if not self._task.has_vectors():
            return out
        every = [p for s in seen for p in s.pictures]
        cosines = self._task.cosines(texts, every)
        first = 0
        for i, s in enumerate(seen):
            mine = cosines[:, first : first + len(s.pictures)]
            first += len(s.pictures)
            if np.isfinite(mine).any():
                out[:, i] = np.nanmax(mine, axis=1)
        return out

    def _words(self, texts: Sequence[str], seen: Sequence[Seen]) -> Vectors:
        cosines = np.full((len(texts), len(seen)), np.nan, np.float32)
        read = [i for i, s in enumerate(seen) if s.words]
        if read:
            cosines[:, read] = self._task.text_cosines(texts, [seen[i].words for i in read])
        return cosines
