"""Forms: the schema of a reply, and how what comes is read, whatever it looks like."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from reeldb.query.answer import Choice
from reeldb.query.operators.replies import Form
from reeldb.query.prompts.asking import (
    ANSWER_FORM,
    OPEN_FORM,
    RELEVANCE_FORM,
    REPAIR,
    SEARCH_FORM,
)
from reeldb.query.reasoners.choice import choice_in, read_choice
from reeldb.query.reasoners.loose_json import loose_json
from reeldb.query.reasoners.protocol import Action

INSUFFICIENT = "insufficient"
STEPS = 5  # of confidence
_ACTION = re.compile(r"^\W*(DRILL|EXPAND)\W+(\d+:\d+)\W*$|^\W*ANSWER\b\W*(.*)$", re.M)


@dataclass(frozen=True, slots=True)
class Answered:
    """A final answer as it was written. `cites` are numbers of the list, `strange` those that
    are not in it."""

    answer: str
    choice: Choice | None
    confidence: float | None
    cites: tuple[int, ...] = ()
    strange: tuple[str, ...] = ()
    insufficient: bool = False


def answer_form(choices: Sequence[Choice], things: int) -> Form[Answered]:
    """`things` is how many numbers can be cited."""
    letters = [c.letter for c in choices]
    told = (
        {"choice": {"enum": [INSUFFICIENT, *letters]}}
        if choices
        else {"outcome": {"enum": ["answered", INSUFFICIENT]}}
    )
    number = {"type": "integer", "minimum": 1, "maximum": max(1, things)}
    schema = _object(
        {
            "reason": {"type": "string"},
            **told,
            "answer": {"type": "string"},
            "cites": {"type": "array", "items": number},
            "confidence": {"type": "integer", "minimum": 1, "maximum": STEPS},
        }
    )
    form = ANSWER_FORM if choices else OPEN_FORM
    return Form(schema, partial(read_answer, choices=choices, things=things), REPAIR + form)


def read_answer(text: str, choices: Sequence[Choice], things: int) -> Answered | None:
    """None where the reply cannot be read: it is then asked for again."""
    value = loose_json(text)
    if not isinstance(value, dict):
        return _in_words(text, choices)
    answer = _text(value.get("answer"))
    cites, strange = _cites(value.get("cites"), things)
    confidence = _confidence(value.get("confidence"))
    told = [_text(value.get(k)).lower() for k in ("choice", "outcome", "answer")]
    if INSUFFICIENT in (told[0] or told[1] or told[2], told[2]):
        return Answered("", None, confidence, cites, strange, insufficient=True)
    if not choices:
        return Answered(answer, None, confidence, cites, strange) if answer else None
    choice = choice_in(value, choices)
    return None if choice is None else Answered(choice.text, choice, confidence, cites, strange)


def _in_words(text: str, choices: Sequence[Choice]) -> Answered | None:
    """A reply without JSON: prose is an answer to an open question, a broken object is none."""
    bare = text.strip()
    if bare.strip(".!\"'* ").lower() == INSUFFICIENT:
        return Answered("", None, None, insufficient=True)
    if choices:
        choice = read_choice(text, choices)
        return None if choice is None else Answered(choice.text, choice, None)
    return None if not bare or bare[0] in "{[`" else Answered(bare, None, None)


def _cites(value: object, things: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    given = value if isinstance(value, list) else [] if value is None else [value]
    good: dict[int, None] = {}
    strange: list[str] = []
    for one in given:
        match = re.fullmatch(r"\W*(\d{1,9})\W*", str(one))
        if match and 1 <= int(match[1]) <= things:
            good[int(match[1])] = None
        else:
            strange.append(str(one)[:40])
    return tuple(good), tuple(strange)


def _confidence(value: object) -> float | None:
    """1..5 as 0..1; None for anything else."""
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number / STEPS if 1 <= number <= STEPS else None


def relevance_form(things: int) -> Form[dict[int, int]]:
    item = _plain_object(
        {
            "id": {"type": "integer", "minimum": 1, "maximum": max(1, things)},
            "score": {"type": "integer", "minimum": 1, "maximum": 3},
        }
    )
    schema = _object({"scores": {"type": "array", "items": item}})
    return Form(schema, partial(read_scores, things=things), REPAIR + RELEVANCE_FORM)


def read_scores(text: str, things: int) -> dict[int, int] | None:
    """Score by number. A score belongs to the number it names: a bare list of scores is not
    read, for one that is missing would move all the others."""
    value = loose_json(text)
    inner = value.get("scores", value) if isinstance(value, dict) else value
    pairs: list[tuple[object, object]] = []
    if isinstance(inner, dict):
        pairs = list(inner.items())
    elif isinstance(inner, list):
        pairs = [(x.get("id"), x.get("score")) for x in inner if isinstance(x, dict)]
    out: dict[int, int] = {}
    for number, score in pairs:
        match = re.fullmatch(r"\W*(\d{1,9})\W*", str(number))
        if match and 1 <= int(match[1]) <= things and str(score) in ("1", "2", "3"):
            out[int(match[1])] = int(str(score))
    return out or None


def action_form() -> Form[Action]:
    schema = _object(
        {
            "action": {"enum": ["ANSWER", "DRILL", "EXPAND"]},
            "id": {"type": "string"},
            "answer": {"type": "string"},
        }
    )
    return Form(schema, read_action, REPAIR + SEARCH_FORM)


def read_action(text: str) -> Action:
    """Exactly one action, else an `invalid` one: the search tells the model, and goes on."""
    value = loose_json(text)
    if isinstance(value, dict) and "action" in value:
        kind = _text(value["action"]).upper()
        node = re.search(r"\d+:\d+", _text(value.get("id")) or _text(value.get("node")) or kind)
        kind = kind.split()[0] if kind else ""
        if kind == "ANSWER":
            return Action("ANSWER", text=_text(value.get("answer")))
        if kind in ("DRILL", "EXPAND") and node:
            return Action("DRILL" if kind == "DRILL" else "EXPAND", node[0])
        return Action("invalid", text="the reply names no action of the menu with its id")
    found = list(_ACTION.finditer(text))
    if len(found) != 1:
        many = "more than one action" if found else "no action"
        return Action("invalid", text=f"the reply holds {many}")
    verb, place, answer = found[0].groups()
    if verb is None:
        return Action("ANSWER", text=(answer or "").strip())
    return Action("DRILL" if verb == "DRILL" else "EXPAND", place)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _plain_object(parts: Mapping[str, object]) -> dict[str, object]:
    """A closed object with every part required, as strict servers want it."""
    return {
        "type": "object",
        "properties": dict(parts),
        "required": list(parts),
        "additionalProperties": False,
    }


def _object(parts: Mapping[str, object]) -> str:
    return json.dumps(_plain_object(parts))
