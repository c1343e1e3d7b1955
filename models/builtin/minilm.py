"""`builtin:minilm`: text vectors by all-MiniLM-L6-v2 (sentence-transformers), 384 wide."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from reeldb.models.builtin.session import outputs
from reeldb.models.builtin.weights import version, weight_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reeldb.schema.models import Vectors

NETWORK = "minilm.onnx"
TOKENIZER = "minilm_tokenizer.json"
DIM = 384
PIECE = 254  # tokens read at once; with the two that mark its ends, what it was trained on
PIECES = 32  # pieces of one text that are read at most
TOKENS = 2048  # tokens of one run, padding counted: bounds its memory

Ids = list[int]


class MiniLM:
    """Texts to unit vectors. A text of more than PIECE tokens is read in pieces, and its vector
    is their mean, weighted by length; `pieces` tells."""

    address = "builtin:minilm"
    can = f"English sentences by meaning; text above {PIECE} tokens is read in pieces and averaged"
    cannot = (
        f"other languages are poor; text beyond {PIECE * PIECES} tokens is not read; "
        "negation and numbers hardly count"
    )
    dim = DIM

    def __init__(self) -> None:
        self.identity = f"builtin:minilm@{version('mean of pieces', NETWORK, TOKENIZER)}"

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """One row a text, shape (n, 384). Raises ModelError where the network cannot be opened."""
        pieces = [(row, ids) for row, text in enumerate(texts) for ids in _pieces(text)]
        total = np.zeros((len(texts), DIM), np.float32)
        for batch in _batches(pieces):
            vectors = _run([ids for _, ids in batch])
            for (row, ids), vector in zip(batch, vectors, strict=True):
                total[row] += vector * len(ids)
        return unit(total)

    def pieces(self, text: str) -> int:
        """How many pieces the text is read in: above 1, its vector is an average."""
        return len(_pieces(text))


@cache
def _tokenizer() -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(weight_file(TOKENIZER)))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _pieces(text: str) -> list[Ids]:
    """Token ids of each piece, its two end marks included; never none."""
    text = text.encode("utf-8", "replace").decode()  # a lone surrogate is no text
    start, *ids, end = _tokenizer().encode(text).ids
    return [[start, *ids[i : i + PIECE], end] for i in range(0, max(1, len(ids)), PIECE)][:PIECES]


def _batches(pieces: list[tuple[int, Ids]]) -> list[list[tuple[int, Ids]]]:
    """Pieces of like length together, at most TOKENS a batch."""
    batches: list[list[tuple[int, Ids]]] = []
    for piece in sorted(pieces, key=lambda p: len(p[1])):
        if batches and (len(batches[-1]) + 1) * len(piece[1]) <= TOKENS:
            batches[-1].append(piece)
        else:
            batches.append([piece])
    return batches


def _run(batch: list[Ids]) -> Vectors:
    longest = max(map(len, batch))
    ids = np.zeros((len(batch), longest), np.int64)
    mask = np.zeros_like(ids)
    for row, piece in enumerate(batch):
        ids[row, : len(piece)] = piece
        mask[row, : len(piece)] = 1
    return outputs(NETWORK, ids=ids, mask=mask)[0]


def unit(rows: NDArray[np.floating]) -> Vectors:
    """The rows at length 1; a row that cannot be, is all NaN."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    good = np.isfinite(length) & (length > 0)
    return np.where(good, rows / np.where(good, length, 1.0), np.nan).astype(np.float32)
