from __future__ import annotations

import pytest

from reeldb.index.archive import Archive
from reeldb.index.ledger import MANY, CaptionRow, Ledger, LookRow, ReplyRow
from reeldb.schema.digests import digest
from reeldb.schema.errors import BindError
from reeldb.schema.models import Status


def caption(key: str, text: str | None = "a cat", status: Status = "ok") -> CaptionRow:
    content = digest("content", "a.mp4")
    return CaptionRow(key, content, "clip", 0.0, 2.0, [0, 1000], text, "fake", "scene", status)


@pytest.fixture
def ledger(archive: Archive) -> Ledger:
    return Ledger(archive)


def test_what_was_put_is_there(ledger: Ledger) -> None:
    rows = [caption("a"), caption("b", None, "empty"), caption("c", None, "refused")]
    assert ledger.put_captions(rows) == 3
    assert ledger.captions(["c", "a", "b", "x"]) == {r.key: r for r in rows}
    assert ledger.captions([]) == {} and ledger.put_captions([]) == 0


def test_a_key_that_is_there_is_never_written_again(ledger: Ledger) -> None:
    ledger.put_captions([caption("a", "first")])
    version = ledger.archive.store.version("captions")
    assert ledger.put_captions([caption("a", "second")]) == 0
    assert ledger.archive.store.version("captions") == version
    assert ledger.put_captions([caption("a", "third"), caption("b"), caption("b")]) == 1
    assert ledger.captions(["a"])["a"].text == "first"
    assert ledger.archive.store.count("captions") == 2


def test_a_failure_does_not_count_as_there_and_is_tried_again(ledger: Ledger) -> None:
    ledger.put_captions([caption("a", None, "failed")])
    assert ledger.captions(["a"]) == {}
    assert ledger.captions(["a"], failed=True)["a"].status == "failed"
    assert ledger.put_captions([caption("a", "at last")]) == 1
    assert ledger.captions(["a"])["a"].text == "at last"
    assert ledger.captions(["a"], failed=True)["a"].text == "at last"


def test_a_batch_is_one_version(ledger: Ledger) -> None:
    before = ledger.archive.store.version("captions")
    ledger.put_captions([caption(str(n)) for n in range(100)])
    assert ledger.archive.store.version("captions") == before + 1


def test_more_keys_than_fit_a_filter_are_looked_up_too(ledger: Ledger) -> None:
    ledger.put_captions([caption(str(n)) for n in range(10)])
    assert len(ledger.captions(map(str, range(MANY + 10)))) == 10


def test_keys_with_quotes_are_literal(ledger: Ledger) -> None:
    ledger.put_captions([caption("it's"), caption("' OR true --")])
    assert set(ledger.captions(["it's"])) == {"it's"}


def test_looks_remember_that_nothing_was_found(ledger: Ledger) -> None:
    empty = LookRow("e", "content", "ocr", "fake", 0, 0, "empty")
    failed = LookRow("f", "content", "ocr", "fake", 1000, 1000, "failed", note="crashed")
    assert ledger.put_looks([empty, failed], {}) == 2
    assert ledger.looks(["e", "f", "never"]) == {"e": empty}
    assert ledger.looks(["f"], failed=True) == {"f": failed}


def test_a_look_that_failed_is_replaced_with_what_the_next_one_finds(ledger: Ledger) -> None:
    ledger.put_looks([LookRow("k", "c", "ocr", "fake", 0, 0, "failed")], {})
    found = [{"key": "k", "content_id": "c", "line_no": 0, "t_ms": 0, "text": "EXIT"}]
    assert ledger.put_looks([LookRow("k", "c", "ocr", "fake", 0, 0, "ok", 1)], {"ocr": found}) == 1
    assert ledger.looks(["k"])["k"].found == 1
    assert ledger.archive.store.count("ocr") == 1


def test_only_tables_of_found_things_can_be_put(ledger: Ledger) -> None:
    with pytest.raises(BindError, match="no table 'videos' of things found; known: ocr"):
        ledger.put_looks([], {"videos": []})


def test_replies_and_answers_are_kept(ledger: Ledger) -> None:
    reply = ReplyRow("r", "chat", "fake", "yes", "ok")
    assert ledger.put_replies([reply]) == 1 and ledger.put_replies([reply]) == 0
    assert ledger.replies(["r"]) == {"r": reply}
    for _ in range(2):
        ledger.put_answer({"id": "x", "question": "who?", "reply_keys": ["r"]})
    assert ledger.answer("x")["reply_keys"] == ["r"]
    assert len(ledger.archive.snapshot().relation("answers")) == 1
    with pytest.raises(BindError, match="no answer 'y'"):
        ledger.answer("y")
