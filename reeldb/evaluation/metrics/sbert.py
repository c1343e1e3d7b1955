"""Likeness of meaning by sentence vectors (SBERT, Reimers and Gurevych 2019).

Two definitions are in use. `sentence_f1`: greedy matching of sentences, as BERTScore does with
words (Zhang et al. 2020): precision is the mean, over the text's sentences, of the cosine with
the nearest sentence of the reference; recall the same from the reference. `whole`: the cosine
of the two texts' vectors (RVLSM's "SBERT").
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from reeldb.evaluation.metrics.overlap import Overlap, overlap
from reeldb.schema.models import TextEmbedder

_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")


def sentence_f1(embedder: TextEmbedder, text: str, reference: str) -> Overlap:
    """Precision, recall and F1; a cosine below 0 counts as 0, an empty text scores 0."""
    mine, theirs = sentences(text), sentences(reference)
    if not mine or not theirs:
        return Overlap(0.0, 0.0, 0.0)
    vectors = np.asarray(embedder.embed_texts([*mine, *theirs]), np.float64)
    cosines = np.maximum(vectors[: len(mine)] @ vectors[len(mine) :].T, 0)
    return overlap(float(cosines.max(1).mean()), float(cosines.max(0).mean()))


def whole(embedder: TextEmbedder, texts: Sequence[str], references: Sequence[str]) -> list[float]:
    """The cosine of each text with its reference, -1 to 1."""
    a = np.asarray(embedder.embed_texts(list(texts)), np.float64)
    b = np.asarray(embedder.embed_texts(list(references)), np.float64)
    return [float(c) for c in np.einsum("nd,nd->n", a, b)]


def sentences(text: str) -> list[str]:
    """The text cut behind full stops, question and exclamation marks, and at line ends.

    >>> sentences("A man sits. He reads!  Is it a book?\\nYes")
    ['A man sits.', 'He reads!', 'Is it a book?', 'Yes']
    """
    return [s.strip() for s in _END.split(text) if s.strip()]
