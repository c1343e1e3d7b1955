from __future__ import annotations

import numpy as np
import pytest

from reeldb.models.builtin.minilm import PIECE, PIECES, MiniLM, unit


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def test_vectors_are_unit_rows_of_384(minilm: MiniLM) -> None:
    vectors = minilm.embed_texts(["a rabbit", "a car"])
    assert vectors.shape == (2, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_like_meanings_are_near(minilm: MiniLM) -> None:
    texts = ["a rabbit eats an apple", "a bunny chews fruit", "interest rates were raised"]
    a, b, c = minilm.embed_texts(texts)
    assert a @ b > 0.5
    assert a @ c < 0.2


def test_a_batch_gives_what_single_texts_give(minilm: MiniLM) -> None:
    texts = ["x", "a much longer text about the sea and its ships", "the sea"] * 3
    batch = minilm.embed_texts(texts)
    singles = np.concatenate([minilm.embed_texts([t]) for t in texts])
    np.testing.assert_allclose(batch, singles, atol=2e-5)


def test_the_last_word_of_a_long_text_counts(minilm: MiniLM) -> None:
    filler = "the and of in " * 100
    with_word, without, query = minilm.embed_texts([filler + "submarine", filler, "submarine"])
    assert minilm.pieces(filler + "submarine") == 2
    assert with_word @ query > without @ query


def test_reading_stops_at_the_stated_end(minilm: MiniLM) -> None:
    longest = "word " * (PIECE * PIECES)
    assert minilm.pieces(longest) == minilm.pieces(longest + "more " * 500) == PIECES


def test_odd_texts_have_vectors_too(minilm: MiniLM) -> None:
    vectors = minilm.embed_texts(["", "\ud800", "\x00\x1b[31m", "日本語", "🙂" * 50])
    assert np.isfinite(vectors).all()


def test_no_texts_give_no_rows(minilm: MiniLM) -> None:
    assert minilm.embed_texts([]).shape == (0, 384)


def test_a_row_that_has_no_direction_is_nan() -> None:
    rows = unit(np.array([[3.0, 4.0], [0.0, 0.0], [np.inf, 1.0], [np.nan, 1.0]]))
    np.testing.assert_allclose(rows[0], [0.6, 0.8], atol=1e-6)
    assert np.isnan(rows[1:]).all()
