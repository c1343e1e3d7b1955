"""BLEU-4 of a corpus (Papineni et al. 2002), by sacrebleu."""

from __future__ import annotations

from collections.abc import Sequence

from reeldb.evaluation.metrics.libraries import library


def bleu(texts: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Over all texts at once; `references` holds one list a text, of any lengths.

    sacrebleu's defaults: tokenizer 13a, case kept, exponential smoothing, the reference length
    nearest to the text's. The captioning scripts (pycocoevalcap) lower-case and tokenize in
    another way; of words that are already so the figures are the same.
    """
    sacrebleu = library("sacrebleu", "sacrebleu")
    most = max((len(r) for r in references), default=0)
    columns = [[r[i] if i < len(r) else None for r in references] for i in range(most)]
    return float(sacrebleu.corpus_bleu(list(texts), columns).score) / 100
