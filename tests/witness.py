"""What the test server answers: it knows what is true at which moment, and nothing else.

A witness is given the true events of some videos. Asked about pictures, it goes by the
moments that it reads in them; asked about text, by what the prompt quotes. So an answer is
right exactly where the program showed it the right pictures or captions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

NOTHING = "Nothing happens."
UNSURE = "I cannot tell."
_STOP = frozenset(
    re.findall(
        r"\w+",
        "the and that this with from into was were has have had are its his her their there who "
        "what when where which does did you",
    )
)
_OPTION = re.compile(r"^\s*\(?([A-Z])[).:]\s+(.+?)\s*$", re.M)
_STATEMENT = re.compile(
    r"(?:statement|question|claim|condition)\W{0,2}[:=]\s*(?:[\"“](.+?)[\"”]|(.+))", re.I
)
_TAGGED = re.compile(r"<(\w+)[^>]*>\s*(.*?)\s*</\1>", re.S)
_QUOTED = re.compile(r"[\"“](.+?)[\"”]|'(.+?)'", re.S)
_YES_NO = re.compile(r"\byes\b.{0,12}\bno\b|\btrue\b.{0,12}\bfalse\b", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Event:
    """Something true of one video during `[start_s, end_s)`; `text` is a sentence."""

    video: int
    start_s: float
    end_s: float
    text: str
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as the server understood it. `moments` are (video, seconds) a picture, None
    where none could be read; `labels` the text right before each picture; `sizes` (width,
    height)."""

    path: str
    body: dict[str, Any]
    key: str = ""
    prompt: str = ""
    moments: tuple[tuple[int, float] | None, ...] = ()
    labels: tuple[str, ...] = ()
    sizes: tuple[tuple[int, int], ...] = ()
    colours: tuple[str, ...] = ()

    @property
    def times_s(self) -> list[float]:
        """The times of the pictures whose moment could be read."""
        return [m[1] for m in self.moments if m]

    @property
    def schema(self) -> dict[str, Any] | None:
        """The response schema that the request names."""
        form = self.body.get("response_format")
        found = form.get("json_schema") if isinstance(form, dict) else None
        return found.get("schema") if isinstance(found, dict) else None


Rule = Callable[[Seen], str | None]


@dataclass
class Witness:
    """Callable with a `Seen`; gives the text of the reply.

    `rules` come first, in order: each gives the whole reply, or None for the next. A
    multiple-choice question is one with lines `A) ...`; a judgement one that asks for yes or
    no; everything else is answered by a caption of the pictures, or by the quoted text.
    """

    events: Sequence[Event] = ()
    rules: list[Rule] = field(default_factory=list)

    def __call__(self, seen: Seen) -> str:
        for rule in self.rules:
            if (said := rule(seen)) is not None:
                return said
        options = dict(_OPTION.findall(seen.prompt))
        if len(options) > 1:
            letter = self.choice(seen, options)
            text = f"The answer is {letter}." if letter else UNSURE
            return self._formed(seen, text, yes=bool(letter), letter=letter)
        if _is_judgement(seen):
            yes = self.judge(seen)
            return self._formed(seen, "yes" if yes else "no", yes=yes)
        return self._formed(seen, self.evidence(seen), yes=True)

    def at(self, seen: Seen) -> list[Event]:
        """The events that hold at some moment that the pictures show, in order."""
        return [
            e
            for e in self.events
            if any(m and m[0] == e.video and e.start_s <= m[1] < e.end_s for m in seen.moments)
        ]

    def evidence(self, seen: Seen) -> str:
        """What the pictures show, or, without pictures, what the prompt quotes."""
        if not seen.moments:
            return " ".join(quotes(seen.prompt)) or seen.prompt
        said = list(dict.fromkeys(e.text for e in self.at(seen)))
        said += [f"A {c} picture." for c in dict.fromkeys(seen.colours) if c]
        return " ".join(said) or NOTHING

    def judge(self, seen: Seen) -> bool:
        """Whether every word that counts in the statement is in the evidence."""
        said = statement(seen.prompt)
        if not seen.moments:
            rest = [q for q in quotes(seen.prompt) if q != said]
            return any(words(said) <= words(q) for q in rest)
        return bool(words(said)) and words(said) <= words(self.evidence(seen))

    def choice(self, seen: Seen, options: dict[str, str]) -> str:
        """The letter of the option that the evidence bears out best, '' where none does."""
        before = seen.prompt[: _first_option(seen.prompt)]
        shown = words(self.evidence(seen) if seen.moments else before)
        borne = {k: words(o) for k, o in options.items() if words(o) and words(o) <= shown}
        return max(borne, key=lambda k: len(borne[k]), default="")

    def _formed(self, seen: Seen, text: str, *, yes: bool, letter: str = "") -> str:
        """The text, or JSON that fits the schema that was asked for."""
        if seen.schema is None:
            return text
        return json.dumps(fitted(seen.schema, text, yes=yes, letter=letter))


def words(text: str) -> frozenset[str]:
    """The words that count, without endings.

    >>> sorted(words("The cat jumped on the tables"))
    ['cat', 'jump', 'table']
    """
    found = re.findall(r"\w+", text.lower())
    return frozenset(re.sub(r"(ing|ed|s)$", "", w) for w in found if len(w) > 2 and w not in _STOP)


def quotes(prompt: str) -> list[str]:
    """The quoted parts of a prompt: between tags, or, without any, in quotation marks."""
    if tagged := _TAGGED.findall(prompt):
        return [inner for _, inner in tagged]
    return [a or b for a, b in _QUOTED.findall(prompt)]


def statement(prompt: str) -> str:
    """What is to be judged: in the tag of that name, else after `Statement:` or its like, else
    the first quotation."""
    for tag, inner in _TAGGED.findall(prompt):
        if tag.lower() in ("statement", "question", "claim", "condition"):
            return str(inner)
    if found := _STATEMENT.search(prompt):
        return (found[1] or found[2]).strip()
    return next(iter(quotes(prompt)), prompt)


def fitted(schema: dict[str, Any], text: str, *, yes: bool, letter: str = "") -> Any:
    """A value that fits the schema and says the answer wherever the schema lets it."""
    if "enum" in schema:
        return _one_of(schema["enum"], text, yes=yes, letter=letter)
    for way in ("anyOf", "oneOf"):
        if way in schema:
            return fitted(schema[way][0], text, yes=yes, letter=letter)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        parts = schema.get("properties", {})
        return {k: fitted(s, text, yes=yes, letter=letter) for k, s in parts.items()}
    if kind == "array":
        count = schema.get("minItems", 1)
        return [fitted(schema.get("items", {}), text, yes=yes, letter=letter)] * count
    if kind == "boolean":
        return yes
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        return high if yes else low
    return None if kind == "null" else letter or text


def _one_of(values: Iterable[Any], text: str, *, yes: bool, letter: str) -> Any:
    values = list(values)
    for value in values:
        said = str(value).lower()
        if letter and said == letter.lower():
            return value
        if not letter and said in (("yes", "true") if yes else ("no", "false")):
            return value
    return next((v for v in values if str(v).lower() in text.lower()), values[0])


def _is_judgement(seen: Seen) -> bool:
    parts = (seen.schema or {}).get("properties", {}).values()
    if any(p.get("type") == "boolean" for p in parts):
        return True
    return bool(_YES_NO.search(seen.prompt))


def _first_option(prompt: str) -> int:
    found = _OPTION.search(prompt)
    return found.start() if found else len(prompt)
