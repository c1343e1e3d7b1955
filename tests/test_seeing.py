from __future__ import annotations

import json

import numpy as np
import pytest

from reeldb.schema.models import Message
from tests.models.openai_adapters import adapters, question, request
from tests.seeing import SeeingServer
from tests.witness import NOTHING, Event, Seen, Witness, fitted

FILM = Witness(
    [
        Event(1, 0, 5, "A cat sleeps on the sofa.", ("cat",)),
        Event(1, 5, 10, "A boy spills the milk.", ("boy",)),
    ]
)


@pytest.mark.parametrize(
    ("times_s", "prompt", "said"),
    [
        ([1.0], "Describe this.", "A cat sleeps on the sofa."),
        ([12.0], "Describe this.", NOTHING),
        ([1.0], 'Does this hold: "a cat is sleeping"? Answer yes or no.', "yes"),
        ([1.0], 'Does this hold: "a dog sleeps"? Answer yes or no.', "no"),
        ([6.0], 'Does this hold: "a cat is sleeping"? Answer yes or no.', "no"),
        ([6.0], "Who spills it?\nA) the cat\nB) the boy", "The answer is B."),
        ([1.0], "Who is there?\n(A) a cat\n(B) a boy", "The answer is A."),
        ([12.0], "Who is there?\nA. a cat\nB. a boy", "I cannot tell."),
        ([], 'Statement: a boy spills milk\nCaption: "A boy spills the milk."\nyes or no?', "yes"),
        ([], 'Statement: a boy drinks\nCaption: "A boy spills the milk."\nyes or no?', "no"),
        ([], "<caption>A cat sleeps.</caption>\nWho?\nA) a dog\nB) a cat", "The answer is B."),
        ([1.0], "yes or no?\n<statement>\nthe cat's asleep, a cat sleeps\n</statement>", "no"),
        ([1.0], "yes or no?\n<statement>\na cat sleeps\n</statement>", "yes"),
        ([], "yes or no?\n<statement>a cat</statement>\n<about>A cat's bed</about>", "yes"),
        ([], "yes or no?\n<statement>a cat</statement>\n<about>A dog's bed</about>", "no"),
        ([], 'Sum up: "A cat." "A boy."', "A cat. A boy."),
    ],
)
def test_it_answers_by_what_it_is_shown(
    seeing: SeeingServer, times_s: list[float], prompt: str, said: str
) -> None:
    seeing.witness = FILM
    with adapters(seeing) as made:
        [reply] = made.chat().reply([question(prompt, times_s)])
    assert (reply.status, reply.text) == ("ok", said)


def test_rules_come_first_and_colours_stand_in_for_moments(seeing: SeeingServer) -> None:
    seeing.witness = Witness(rules=[lambda seen: "42" if "number" in seen.prompt else None])
    white = Message("user", "Describe.", [np.full((90, 160, 3), 255, np.uint8)])
    with adapters(seeing) as made:
        [a, b] = made.chat().reply([question("a number?"), [white]])
    assert (a.text, b.text) == ("42", "A white picture.")


def test_a_schema_is_filled_wherever_it_lets_the_answer_in() -> None:
    schema = {
        "type": "object",
        "properties": {
            "choice": {"enum": ["A", "B"]},
            "verdict": {"enum": ["yes", "no", "unsure"]},
            "why": {"type": ["string", "null"]},
            "scores": {"type": "array", "minItems": 2,
                       "items": {"type": "integer", "minimum": 1, "maximum": 3}},
            "more": {"anyOf": [{"type": "null"}, {"type": "string"}]},
        },
    }  # fmt: skip
    assert fitted(schema, "The answer is B.", yes=True, letter="B") == {
        "choice": "B", "verdict": "yes", "why": "B", "scores": [3, 3], "more": None,
    }  # fmt: skip
    assert fitted({"type": "boolean"}, "no", yes=False) is False


def test_a_question_by_schema_is_answered_in_json() -> None:
    form = {"json_schema": {"schema": {"type": "object", "properties": {"choice": {"enum": "AB"}}}}}
    seen = Seen("", {"response_format": form}, prompt="Who?\nA) cat\nB) boy", moments=((1, 6.0),))
    assert json.loads(FILM(seen)) == {"choice": "B"}


def test_it_lists_what_it_saw_and_how_many_asked_at_once(seeing: SeeingServer) -> None:
    seeing.latency_s = 0.03
    with adapters(seeing) as made:
        made.captioner(concurrency=4).caption([request([t, t + 1]) for t in range(8)])
    assert sorted(s.times_s for s in seeing.requests) == [[t, t + 1] for t in range(8)]
    assert (seeing.calls, seeing.peak) == (8, 4)
