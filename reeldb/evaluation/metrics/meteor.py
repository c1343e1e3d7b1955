"""METEOR (Banerjee and Lavie 2005; parameters of Lavie and Agarwal 2007), by NLTK."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from reeldb.evaluation.metrics.libraries import library
from reeldb.schema.errors import EvaluationError

_WORD = re.compile(r"\w+(?:'\w+)?|[^\w\s]")


def meteor(text: str, references: Sequence[str], *, synonyms: bool = True) -> float:
    """The best score against any reference; words match exactly, by stem, then by synonym.

    Synonyms are WordNet's, a download of NLTK's data server that no package brings along. With
    `synonyms=False` the third kind of match is left out and nothing is downloaded; name it
    "METEOR (exact, stem)", since it is lower. Raises EvaluationError where WordNet is missing.
    """
    score = library("nltk.translate.meteor_score", "nltk")
    words = [_WORD.findall(r) for r in references]
    wordnet = _wordnet() if synonyms else _NoSynonyms()
    return float(score.meteor_score(words, _WORD.findall(text), wordnet=wordnet))


class _NoSynonyms:
    """A WordNet in which no word has a synonym."""

    def synsets(self, word: str) -> list[Any]:
        return []


def _wordnet() -> Any:
    wordnet = library("nltk.corpus", "nltk").wordnet
    try:
        wordnet.ensure_loaded()
    except LookupError as error:
        raise EvaluationError(
            "METEOR's synonyms are in WordNet, which is not here: run "
            "`python -m nltk.downloader wordnet`, or leave them out with synonyms=False"
        ) from error
    return wordnet
