from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pytest

from reeldb.query.bm25 import Corpus, corpus_of, scores, words_of
from reeldb.query.engine import Engine
from reeldb.schema.errors import BindError
from tests.query.test_lazy import calls, engine_of
from tests.query.world import OpenFake, make_world

TEXTS = ["Milk is spilt", None, "tea and milk, milk", "", "an\u00e9mone; \u00c9MUE"]


def plain(text: str, query: list[str], every: list[str]) -> float:
    """BM25 as the book has it, word by word."""
    total = 0.0
    documents = [t.lower().replace(",", " ").split() for t in every]
    mean = sum(map(len, documents)) / len(documents)
    mine = text.lower().replace(",", " ").split()
    for word in query:
        n = sum(word in d for d in documents)
        idf = math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
        f = mine.count(word)
        total += idf * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * len(mine) / mean))
    return total


def test_a_score_is_the_one_of_the_book() -> None:
    texts, words = pa.array(TEXTS[:3]), words_of("milk, TEA milk")
    found = scores(texts, words, corpus_of(texts, words)).to_pylist()
    every = [t for t in TEXTS[:3] if t]
    assert words == ("milk", "tea")
    assert found[1] is None
    for text, score in zip(TEXTS[:3], found, strict=True):
        if text is not None:
            assert score == pytest.approx(plain(text, ["milk", "tea"], every))


def test_words_are_whole_whatever_their_script_and_case() -> None:
    texts = pa.chunked_array([TEXTS[3:], ["mil milkshake"]])
    words = words_of("\u00c9mue MILK")
    found = scores(texts, words, corpus_of(texts, words)).to_pylist()
    assert found[0] == found[2] == 0
    assert found[1] > 0


def test_without_any_text_known_a_match_still_counts() -> None:
    nothing = Corpus(0, 0.0, {})
    assert scores(pa.array(["a cat", "a dog"]), ("cat",), nothing).to_pylist() == [
        pytest.approx(math.log(2)), 0.0,
    ]  # fmt: skip


def test_speech_is_ranked_by_its_words(engine: Engine) -> None:
    rows = engine.sql(
        "SELECT text, bm25(text, 'spilt milk') s FROM speech WHERE model = 'subtitle' "
        "ORDER BY bm25(text, 'spilt milk') DESC LIMIT 30"
    ).fetchall()
    values = [s for _, s in rows]
    assert values == sorted(values, reverse=True)
    assert rows[0][0] == "milk is spilt" and values[0] > 0


def test_captions_are_made_for_the_rows_that_are_scored_and_null_is_null(tmp_path: Path) -> None:
    engine = engine_of(make_world(tmp_path / "archive", videos=2, scenes=4).archive, OpenFake,
                       captioner="fake:captioner?reply=a+cat&reply=a+dog&empty=3")  # fmt: skip
    sql = "SELECT caption, bm25(caption, 'cat') FROM scenes WHERE video = 'v0.mp4'"
    first = engine.sql(sql).fetchall()
    assert calls(engine) == 4
    assert {text: score is None or score > 0 for text, score in first} == {
        "a cat": True, "a dog": False, None: True,
    }  # fmt: skip
    assert [s is None for t, s in first] == [t is None for t, s in first]
    again = engine.sql(f"{sql} AND bm25(caption, 'cat') > 0").fetchall()
    assert {t for t, _ in again} == {"a cat"}
    assert calls(engine) == 4
    kept = engine.sql("SELECT text FROM captions WHERE bm25(text, 'dog') > 0").fetchall()
    assert {t for (t,) in kept} == {"a dog"}


def test_texts_of_scenes_are_scored_too(engine: Engine) -> None:
    sql = "SELECT ocr_text, bm25(ocr_text, 'dog') FROM scenes WHERE video = 'v3.mp4'"
    rows = engine.sql(sql).fetchall()
    assert any(s > 0 for _, s in rows)
    assert all((s > 0) == ("dog" in text) for text, s in rows)
    said = engine.sql("SELECT speech_text, bm25(speech_text, 'milk') FROM scenes").fetchall()
    assert all((s is None) if t is None else (s > 0) == ("milk" in t) for t, s in said)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT bm25(video, 'x') FROM scenes", "bm25.. takes caption or ocr_text"),
        ("SELECT bm25(caption, '?!') FROM scenes", "there is no word in"),
        ("SELECT bm25(caption || 'x', 'x') FROM scenes", "is computed, not a column"),
    ],
)
def test_what_cannot_be_scored_is_said(engine: Engine, sql: str, message: str) -> None:
    with pytest.raises(BindError, match=message):
        engine.sql(sql)
