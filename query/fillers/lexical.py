"""`bm25(...)` over texts that models make: the score of a caption or of what a scene shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reeldb.index.assemble import newest
from reeldb.query.bm25 import Corpus, corpus_of, scores
from reeldb.query.catalog import Catalog
from reeldb.query.fillers.base import Arrays, Batch, Filler, Keys


class Lexical:
    """Scores of the texts of another filler. Reads them, costs no call of its own."""

    def __init__(self, about: Filler, words: tuple[str, ...], corpus: Corpus) -> None:
        self.about, self.words, self.corpus = about, words, corpus

    @property
    def size(self) -> int:
        return self.about.size

    def recall(self, keys: Keys) -> Arrays:
        return self._scored(self.about.recall(keys))

    def make(self, keys: Sequence[int]) -> Batch:
        return self._scored(self.about.make(keys)).batch()

    def _scored(self, texts: Batch | Arrays) -> Arrays:
        if isinstance(texts, Arrays):
            keys, values, states = texts.keys, texts.values, texts.states
        else:
            keys = np.array(texts.keys, np.int64)
            values = pa.array(texts.values, pa.string())
            states = pa.array(texts.states, pa.string())
        return Arrays(keys, scores(values, self.words, self.corpus), states)


def caption_corpus(
    catalog: Catalog, words: tuple[str, ...], kind: str, prompt_id: str, model: str
) -> Corpus:
    """Of the captions of one kind, prompt and model that the archive holds."""
    about = (words, kind, prompt_id, model)

    def make() -> Corpus:
        columns = ["key", "text", "status", "created_at", "kind", "prompt_id", "model"]
        rows = newest(catalog.snapshot.rows("captions", columns))
        for name, value in (("status", "ok"), ("kind", kind), ("prompt_id", prompt_id),
                            ("model", model)):  # fmt: skip
            rows = rows.filter(pc.equal(rows[name], value))
        return corpus_of(rows["text"], words)

    return catalog.kept(f"bm25 {kind}", ["captions"], about, make)
