from __future__ import annotations

import json

import pytest

from reeldb.models.openai.speaker import response_format
from reeldb.schema.errors import ModelError
from tests import faults
from tests.models.openai_adapters import adapters, question, request
from tests.seeing import SeeingServer

VERDICT = json.dumps(
    {
        "type": "object",
        "properties": {"holds": {"type": "boolean"}},
        "required": ["holds"],
        "additionalProperties": False,
    }
)
ASKED = 'Statement: "a dog digs". Caption: "A dog digs a hole." Answer yes or no.'


def test_a_schema_is_sent_and_kept_to(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        [reply] = made.chat().reply([question(ASKED)], VERDICT)
    form = seeing.requests[0].body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"] == json.loads(VERDICT)
    assert json.loads(reply.text) == {"holds": True}


@pytest.mark.parametrize("names", [True, False])
def test_a_refused_schema_is_left_out_and_remembered(seeing: SeeingServer, names: bool) -> None:
    seeing.refuses, seeing.names_refused = ("response_format",), names
    with adapters(seeing) as made:
        [first] = made.chat().reply([question(ASKED)], VERDICT)
        [second] = made.chat().reply([question(ASKED)], VERDICT)
    assert (first.text, first.calls, second.calls) == ("yes", 2, 1)
    assert ["response_format" in s.body for s in seeing.requests] == [True, False, False]


def test_another_error_is_not_blamed_on_the_schema(seeing: SeeingServer) -> None:
    seeing.fail(faults.status(400, "no idea"), faults.status(400, "no idea"))
    with adapters(seeing) as made:
        [bad] = made.chat().reply([question(ASKED)], VERDICT)
        [good] = made.chat().reply([question(ASKED)], VERDICT)
    assert (bad.status, bad.note, bad.calls) == ("failed", "400: no idea", 2)
    assert json.loads(good.text) == {"holds": True}


def test_other_optional_parameters_can_be_refused(seeing: SeeingServer) -> None:
    seeing.refuses = ("temperature", "seed", "max_tokens")
    with adapters(seeing) as made:
        captioner = made.captioner(max_tokens=300)
        [first] = captioner.caption([request([1])])
        [second] = captioner.caption([request([1])])
    assert (first.status, first.calls, second.calls) == ("ok", 4, 1)
    last = seeing.requests[-1].body
    assert not {"temperature", "seed", "max_tokens"} & set(last)
    assert last["max_completion_tokens"] == 300


def test_a_limit_of_tokens_above_the_models_is_no_matter_of_pictures(seeing: SeeingServer) -> None:
    seeing.fail(faults.status(400, "max_tokens is too large: 9000", param="max_tokens"))
    with adapters(seeing) as made:
        [reply] = made.captioner(max_tokens=9000).caption([request([1, 2])])
    assert (reply.status, reply.note) == ("ok", "")
    assert [len(s.moments) for s in seeing.requests] == [2, 2]


def test_what_one_model_refuses_another_may_take(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        seeing.refuses = ("temperature",)
        made.chat("seer").reply([question("hello")])
        seeing.refuses = ()
        made.chat("speller").reply([question("hello")])
    assert "temperature" in seeing.requests[-1].body


def test_strict_is_asked_for_only_where_the_schema_is() -> None:
    loose = {"type": "object", "properties": {"a": {"type": "string"}}}
    nested = json.loads(VERDICT) | {"properties": {"holds": loose}}
    for schema, strict in (
        (VERDICT, True),
        (json.dumps(loose), False),
        (json.dumps(nested), False),
    ):
        assert response_format(schema)["json_schema"]["strict"] is strict


def test_a_schema_that_is_no_json_is_an_error() -> None:
    with pytest.raises(ModelError, match="no JSON"):
        response_format("{")
