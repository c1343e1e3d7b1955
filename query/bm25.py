"""BM25: how well a text fits some words (Robertson and Zaragoza, The Probabilistic Relevance
Framework: BM25 and Beyond, 2009, section 3; idf as Lucene has it, so that it is never negative).

Lance's full-text index scores what it has indexed, of one table; texts here may be made by the
statement itself, and must score like those that were there before. So the formula is worked out
over Arrow columns, for the texts that a statement reads. How rare a word is and how long texts
are on average is told by a corpus that is fixed when the statement starts: the texts that the
archive holds then. Thus a score does not depend on what a statement fills, or in which order.

A word is a run of letters and digits in lower case; there is no stemming.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

K1, B = 1.2, 0.75
NO_WORD = r"[^\pL\pM\pN]+"
compute: Any = pc


@dataclass(frozen=True, slots=True)
class Corpus:
    """How many texts there are, their mean length in words, and how many hold each word."""

    texts: int
    mean_length: float
    holding: Mapping[str, int]

    def weight(self, word: str) -> float:
        """The inverse document frequency: the rarer the heavier."""
        n = self.holding.get(word, 0)
        return float(np.log1p((self.texts - n + 0.5) / (n + 0.5)))


def words_of(text: str) -> tuple[str, ...]:
    """The different words of a query, in order.

    >>> words_of("Milk, and more milk!")
    ('milk', 'and', 'more')
    """
    spread = _spread(pa.array([text], pa.string()))[0].as_py()
    return tuple(dict.fromkeys(re.findall(r"\S+", spread)))


def corpus_of(texts: pa.Array | pa.ChunkedArray, words: tuple[str, ...]) -> Corpus:
    """What there is to know of some texts; NULL is no text."""
    texts = texts.drop_null()
    spread = _spread(texts)
    lengths = _lengths(spread)
    holding = {w: int(np.count_nonzero(_times(spread, w))) for w in words}
    return Corpus(len(texts), float(lengths.mean()) if len(texts) else 0.0, holding)


def scores(texts: pa.Array | pa.ChunkedArray, words: tuple[str, ...], corpus: Corpus) -> pa.Array:
    """A score for every text: NULL for NULL, 0 where no word of the query occurs."""
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    spread = _spread(texts)
    longer = np.ones(len(texts))  # how much longer than the mean
    if corpus.mean_length:
        longer = _lengths(spread) / corpus.mean_length
    out = np.zeros(len(texts))
    for word in words:
        n = _times(spread, word)
        out += corpus.weight(word) * n * (K1 + 1) / (n + K1 * (1 - B + B * longer))
    return pa.array(out, mask=np.asarray(texts.is_null().to_numpy(zero_copy_only=False)))


def _spread(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The words in lower case with two spaces between them and one at either end."""
    lower = compute.utf8_lower(texts)
    apart = compute.replace_substring_regex(lower, NO_WORD, "  ")
    return compute.binary_join_element_wise(" ", apart, " ", "")


def _lengths(spread: pa.Array) -> np.ndarray:
    return _numbers(compute.count_substring_regex(spread, r"[^ ]+"))


def _times(spread: pa.Array, word: str) -> np.ndarray:
    """How often a word occurs in each text."""
    return _numbers(compute.count_substring(spread, f" {word} "))


def _numbers(counts: pa.Array) -> np.ndarray:
    return np.asarray(compute.fill_null(counts, 0).to_numpy(zero_copy_only=False), np.float64)
