from __future__ import annotations

import numpy as np
import pytest

from reeldb.models.openai import embedder
from reeldb.schema.errors import ModelError
from reeldb.schema.models import TextEmbedder
from tests import faults
from tests.faults import Fault
from tests.models.openai_adapters import adapters
from tests.seeing import DIM, SeeingServer


def test_texts_become_unit_vectors_in_their_order(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        model = made.embedder()
        rows = model.embed_texts(["a red car", "two red cars", "a dog digs"])
    assert rows.shape == (3, DIM) and rows.dtype == np.float32 and model.dim == DIM
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert rows[0] @ rows[1] > 0.6 > rows[0] @ rows[2]
    assert isinstance(model, TextEmbedder)


def test_many_texts_go_in_few_requests(
    seeing: SeeingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder, "BATCH", 4)
    texts = [f"word{i}" for i in range(10)]
    with adapters(seeing) as made:
        rows = made.embedder().embed_texts(texts)
        assert sorted(len(s.body["input"]) for s in seeing.requests) == [2, 4, 4]
        alone = made.embedder().embed_texts(texts[7:8])
    assert np.allclose(rows[7], alone[0], atol=1e-6)


def test_a_batch_too_large_is_halved(seeing: SeeingServer) -> None:
    seeing.fail(faults.too_long())
    with adapters(seeing) as made:
        rows = made.embedder().embed_texts(["one", "two", "three"])
    assert [len(s.body["input"]) for s in seeing.requests] == [3, 1, 2]
    assert rows.shape == (3, DIM)


def test_a_text_too_long_is_the_mean_of_its_halves(seeing: SeeingServer) -> None:
    text = " ".join(["dog"] * 30 + ["cat"] * 30)
    seeing.fail(faults.too_long())
    with adapters(seeing) as made:
        [row] = made.embedder().embed_texts([text])
        dog, cat = made.embedder().embed_texts(["dog", "cat"])
    assert row @ dog == pytest.approx(row @ cat, abs=0.1)
    assert row @ dog > 0.6


def test_a_text_that_cannot_be_halved_any_more_is_an_error(seeing: SeeingServer) -> None:
    seeing.always = faults.too_long()
    with adapters(seeing) as made, pytest.raises(ModelError, match="maximum context length"):
        made.embedder().embed_texts(["word " * 30])


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"data": []}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 0, "embedding": [1e999]}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
    ],
)
def test_an_answer_without_vectors_is_an_error(seeing: SeeingServer, body: bytes) -> None:
    seeing.always = Fault(body=body)
    with adapters(seeing) as made, pytest.raises(ModelError, match="no vector for each of 1"):
        made.embedder().embed_texts(["a"])


def test_no_texts_and_empty_texts_are_fine(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        assert made.embedder().embed_texts([]).shape == (0, 0)
        assert seeing.calls == 0
        assert np.isfinite(made.embedder().embed_texts(["", "a dog"])).all()
    assert seeing.requests[0].body["input"][0] == " "
