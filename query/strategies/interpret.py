"""Sub-queries for a question: written by a model that sees pictures, or cut from the question."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from reeldb.query.operators.replies import Form, Request
from reeldb.query.prompts.asking import REPAIR, asked, quoted
from reeldb.query.prompts.interpreting import BETTER, INTERPRET, INTERPRET_FORM
from reeldb.query.reasoners.loose_json import loose_json

if TYPE_CHECKING:
    from reeldb.query.operators.grid import Picture
    from reeldb.query.reasoners import Reasoner
    from reeldb.query.task import Task

LONGEST = 200  # characters of a sub-query
_TIME = re.compile(r"\d+:\d\d|\b(?:frame|picture|image|timestamp|second|minute)s?\s+\W?\d", re.I)
_CLAUSE = re.compile(r"[,;:?!.]\s+|[?!.]$|\b(?:and|or|but|while|when|before|after|then)\b", re.I)
_LEAST_WORDS = 2  # of a clause that stands alone


class Interpreter(Protocol):
    """`learns` says whether pictures that were found make better sub-queries."""

    learns: bool

    def queries(self, pictures: Sequence[Picture], last: Sequence[str]) -> Sequence[str]:
        """Sub-queries from pictures in time order, and from the last sub-queries, if any."""
        ...


def interpreter_for(
    task: Task, reasoner: Reasoner, most: int, interpret: bool, temperature: float
) -> Interpreter:
    """The role's model, where a language model answers or it is named; else the parts of the
    question, and the answer says so."""
    if not interpret:
        return Parts(())
    asks = reasoner.name == "chat" or "interpreter" in task.cast.named
    if asks and task.cast.has("interpreter"):
        return Written(task, most, temperature)
    task.note("no model wrote sub-queries: they are the parts of the question and its options")
    return Parts(parts_of(task.question, [c.text for c in task.choices], most))


class Parts:
    """Always the same sub-queries."""

    learns = False

    def __init__(self, parts: Sequence[str]) -> None:
        self._parts = tuple(parts)

    def queries(self, pictures: Sequence[Picture], last: Sequence[str]) -> Sequence[str]:
        return self._parts


class Written:
    """Sub-queries that the interpreter writes. Where a reply is lost the last ones stay."""

    learns = True

    def __init__(self, task: Task, most: int, temperature: float) -> None:
        self._task, self._most, self._temperature = task, most, temperature

    def queries(self, pictures: Sequence[Picture], last: Sequence[str]) -> Sequence[str]:
        text = "\n".join(
            [
                INTERPRET.text,
                *([BETTER, quoted("last", "\n".join(last))] if last else []),
                asked(self._task.question, self._task.choices),
                INTERPRET_FORM.format(most=self._most),
            ]
        )
        form = queries_form(self._task.question, self._most)
        request = Request(text, tuple(pictures))
        [heard] = self._task.ask("interpreter", [request], form, self._temperature)
        return tuple(last) if heard.value is None else heard.value


def queries_form(question: str, most: int) -> Form[tuple[str, ...]]:
    schema = {
        "type": "object",
        "properties": {"queries": {"type": "array", "items": {"type": "string"}}},
        "required": ["queries"],
        "additionalProperties": False,
    }
    read = partial(read_queries, question=question, most=most)
    return Form(json.dumps(schema), read, REPAIR + INTERPRET_FORM.format(most=most))


def read_queries(text: str, question: str, most: int) -> tuple[str, ...] | None:
    """The sub-queries, or None where there are none. A text that names a time or a picture by
    number is left out: where to look is not the interpreter's to say."""
    value = loose_json(text)
    given = value.get("queries") if isinstance(value, dict) else value
    if not isinstance(given, list):
        return None
    said = [" ".join(q.split())[:LONGEST] for q in given if isinstance(q, str)]
    good = [q for q in said if q and q != question and not _TIME.search(q)]
    return tuple(dict.fromkeys(good))[:most] or None


def parts_of(question: str, choices: Sequence[str], most: int) -> tuple[str, ...]:
    """The question's clauses and its options, without a model.

    >>> parts_of("Who opens the door and who leaves?", ["the cat"], 4)
    ('Who opens the door', 'who leaves', 'the cat')
    """
    clauses = [c.strip() for c in _CLAUSE.split(question)]
    several = [c for c in clauses if len(c.split()) >= _LEAST_WORDS]
    parts = several if len(several) > 1 else []
    return tuple(dict.fromkeys([*parts, *choices]))[:most]
