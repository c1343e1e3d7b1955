"""CIDEr-D (Vedantam, Zitnick, Parikh 2015, section 5.3), the "CIDEr" that captioning papers print.

Own code after the paper's formulas, since the published script brings 100 MB of Java along; the
same figures as its `Cider` class on the same words (pycocoevalcap 1.2).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from reeldb.schema.errors import EvaluationError

LONGEST = 4  # words of an n-gram
SIGMA = 6.0  # of the penalty on a difference of length
_WORD = re.compile(r"\w+(?:'\w+)?")

Grams = Counter[tuple[str, ...]]
Weights = dict[tuple[str, ...], float]


def cider(texts: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """The score, 0 to 10, of each text; a corpus scores their mean.

    How much an n-gram weighs comes from how few of all references lists hold it, so a score
    holds for a corpus: of a single text it is 0. Words are lower-cased, punctuation dropped.
    Raises EvaluationError where a text has no reference.
    """
    if len(texts) != len(references) or not all(references):
        raise EvaluationError(
            f"{len(texts)} texts and {len(references)} lists of references; give at least one "
            "reference a text"
        )
    grams = [[_grams(r) for r in of_one] for of_one in references]
    held = Counter(g for of_one in grams for g in set().union(*of_one))
    rare = {gram: math.log(len(texts)) - math.log(n) for gram, n in held.items()}
    rarest = math.log(len(texts)) if texts else 0.0
    scores = []
    for text, of_one in zip(texts, grams, strict=True):
        mine = _grams(text)
        near = [_alike(mine, other, rare, rarest) for other in of_one]
        scores.append(10 * sum(near) / len(near))
    return scores


def _grams(text: str) -> Grams:
    words = _WORD.findall(text.lower())
    spans = ((i, n) for n in range(1, LONGEST + 1) for i in range(len(words) - n + 1))
    return Counter(tuple(words[i : i + n]) for i, n in spans)


def _alike(text: Grams, reference: Grams, rare: Weights, rarest: float) -> float:
    """The mean over n of the clipped cosines, less for another length."""
    apart = _length(text) - _length(reference)
    penalty = math.exp(-(apart**2) / (2 * SIGMA**2))
    cosines = []
    for n in range(1, LONGEST + 1):
        a = {g: c * rare.get(g, rarest) for g, c in text.items() if len(g) == n}
        b = {g: c * rare[g] for g, c in reference.items() if len(g) == n}
        size = math.hypot(*a.values()) * math.hypot(*b.values())
        shared = sum(min(a[g], b[g]) * b[g] for g in a.keys() & b.keys())
        cosines.append(shared / size if size else 0.0)
    return penalty * sum(cosines) / LONGEST


def _length(grams: Grams) -> int:
    """Words less one: the published script counts pairs of words."""
    return sum(count for gram, count in grams.items() if len(gram) == 2)
