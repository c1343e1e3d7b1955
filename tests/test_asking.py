"""What `reel ask` prints of an answer."""

from __future__ import annotations

from reeldb.asking import WITNESS, answer_text
from reeldb.query.answer import Answer, Evidence


def test_evidence_is_a_line_each_however_much_was_read_there() -> None:
    long = Evidence("a.mp4", "1" * 32, 751.0, 760.0, "on the wall:\n" + "word " * 100)
    short = Evidence("it's.mp4", "2" * 32, 0.0, 0.5, "a cat")
    answer = Answer("f" * 32, "what?", "a cat", None, 0.5, "complete", (long, short), "topk", "x")
    head, first, second, tail = answer_text(answer).splitlines()
    assert (head, second) == ("a cat", "  it's.mp4 @ 00:00:00-00:00:00.500  a cat")
    assert first.startswith("  a.mp4 @ 00:12:31-00:12:40  on the wall: word word")
    assert len(first) == len("  a.mp4 @ 00:12:31-00:12:40  ") + WITNESS and first.endswith("...")
    assert tail.startswith("(complete; topk with x;")
