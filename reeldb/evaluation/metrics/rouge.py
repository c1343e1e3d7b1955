"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004), by Google's rouge-score."""

from __future__ import annotations

from collections.abc import Sequence

from reeldb.evaluation.metrics.libraries import library
from reeldb.evaluation.metrics.overlap import Overlap


def rouge(text: str, references: Sequence[str], *, stem: bool = True) -> dict[str, Overlap]:
    """`rouge1`, `rouge2` and `rougeL` (whole text one sequence) of one text.

    Of several references, the one with the best F1 counts, for each of the three. Words are
    lower-cased runs of a-z and 0-9, stemmed by Porter unless `stem` is False.
    """
    scorer = library("rouge_score.rouge_scorer", "rouge-score")
    kinds = ["rouge1", "rouge2", "rougeL"]
    scores = scorer.RougeScorer(kinds, use_stemmer=stem).score_multi(references, text)
    return {k: Overlap(s.precision, s.recall, s.fmeasure) for k, s in scores.items()}
