"""Which letter a reply means, and JSON however it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reeldb.query.answer import choices_of
from reeldb.query.reasoners.choice import read_choice
from reeldb.query.reasoners.forms import read_action, read_answer, read_scores
from reeldb.query.reasoners.loose_json import loose_json

FOUR = choices_of(("the cat", "the boy", "a red car", "nobody"))


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        # a named field
        ('{"choice": "B"}', "B"),
        ('{"answer": "C"}', "C"),
        ('{"choice": "B) the boy"}', "B"),
        ('{"choice": "the boy"}', "B"),
        ('{"choice": {"letter": "D", "text": "nobody"}}', "D"),
        ("{'choice': 'B'}", "B"),
        ('```json\n{"choice": "B"}\n```', "B"),
        ('Let me see. {"choice": "B",} That is all.', "B"),
        ('First {"choice": "A"}, no: {"choice": "B"}', "B"),
        ('<think>{"choice": "A"}</think>{"choice": "B"}', "B"),
        ('{"reason": "Antwort A", "choice": "B"}', "B"),
        ('{"reason": "the answer is A"}', None),
        ('{"choice": "E"}', None),
        ('{"choice": "B", "cites": [1', None),
        ('{"choice": ""}', None),
        ('{"choice": ["A", "B"]}', None),
        # the whole reply
        ("B", "B"),
        ("b", None),
        (" (B). ", "B"),
        ("**B**", "B"),
        ("B)", "B"),
        ("Option B", "B"),
        ("B) the boy", "B"),
        ("The boy.", "B"),
        ("nobody", "D"),
        # an explicit final phrase
        ("It is red, so the answer is C.", "C"),
        ("The answer is (C) because it is red.", "C"),
        ("Answer: C", "C"),
        ("The correct option is **C**", "C"),
        ("The cat sleeps, so D", "D"),
        ("Therefore, it is D.", "D"),
        ("I would choose B.", "B"),
        ("The answer is A. On reflection, the answer is B.", "B"),
        # none of these
        ("Antwort", None),
        ("Antwort: keine", None),
        ("A boy is seen.", None),
        ("A", "A"),
        ("The answer is A boy.", None),
        ("The answer is a cat.", None),
        ("The answer is not A.", None),
        ("The answer is A or B.", None),
        ("The answer is A and B", None),
        ("It could be A.", None),
        ("A, B", None),
        ("The answer is E.", None),
        ("Because of B", None),
        ("I cannot tell.", None),
        ("", None),
        ("Dragon", None),
        ("the cat or the boy", None),
    ],
)
def test_a_choice_is_read_where_it_is_said_and_nowhere_else(text: str, letter: str | None) -> None:
    found = read_choice(text, FOUR)
    assert (found.letter if found else None) == letter


@given(st.text(max_size=200))
def test_no_reply_breaks_the_reading(text: str) -> None:
    for one in (text, '{"choice": ' + text, '{"scores": [' + text + "]}"):
        choice = read_choice(one, FOUR)
        assert choice is None or choice in FOUR
        read_answer(one, FOUR, 5)
        read_scores(one, 5)
        read_action(one)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2]}', {"a": [1, 2]}),
        ('noise } {"a": "}"} more', {"a": "}"}),
        ("{'a': 'it''s'}", None),
        ("{'a': \"it's\", 'b': None}", {"a": "it's", "b": None}),
        ('{"a": true, "b": [1,2,],}', {"a": True, "b": [1, 2]}),
        ('{"a": 1', None),
        ("[1, 2]", [1, 2]),
        ("{" * 500, None),
        ("3", None),
    ],
)
def test_json_is_found_however_it_is_wrapped(text: str, value: object) -> None:
    if text.count("''"):
        assert loose_json(text) in (None, {"a": "its"})
    else:
        assert loose_json(text) == value


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        ('{"scores": [{"id": 1, "score": 3}, {"id": 3, "score": 2}]}', {1: 3, 3: 2}),
        ('{"scores": {"2": 1}}', {2: 1}),
        ('[{"id": "[2]", "score": "3"}]', {2: 3}),
        ('{"scores": [{"id": 9, "score": 3}]}', None),
        ('{"scores": [{"id": 1, "score": 7}]}', None),
        ('{"scores": [3, 1, 2]}', None),  # whose score is missing cannot be told
        ("3, 1, 2", None),
    ],
)
def test_a_score_belongs_to_the_number_it_names(text: str, scores: dict[int, int] | None) -> None:
    assert read_scores(text, 3) == scores


def test_numbers_that_were_not_shown_are_no_citations() -> None:
    said = read_answer('{"choice": "A", "cites": [2, 9, "x", 2], "confidence": 4}', FOUR, 3)
    assert said is not None
    assert (said.cites, said.strange, said.confidence) == ((2,), ("9", "x"), 0.8)


@pytest.mark.parametrize("text", ["insufficient", '{"choice": "insufficient", "answer": "A"}'])
def test_insufficient_is_an_answer_of_its_own(text: str) -> None:
    said = read_answer(text, FOUR, 3)
    assert said is not None and said.insufficient and said.choice is None
