"""Forms of `mapreduce`: what its replies look like, and how they are read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reeldb.query.operators.replies import Form
from reeldb.query.prompts import mapping as say
from reeldb.query.prompts.asking import REPAIR
from reeldb.query.reasoners.loose_json import loose_json

NAME = re.compile(r"[A-Za-z0-9_ -]{1,40}")
MOST_CHARACTERS = 8
TEXT, BOOL, NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "number"}
TEXTS = {"type": "array", "items": TEXT}
SURE = {"type": "integer", "minimum": 1, "maximum": 5}


@dataclass(frozen=True, slots=True)
class Character:
    """A local name, what it looks like, and the place of its best picture in the list shown."""

    name: str
    description: str
    picture: int


@dataclass(frozen=True, slots=True)
class Dense:
    brief: str
    appeared: tuple[str, ...]
    detailed: str


@dataclass(frozen=True, slots=True)
class Intent:
    """What a part, or the whole, has to do with the question. Spans are (video, start, end)."""

    reasoning: str
    spans: tuple[tuple[int, float, float], ...]
    characters: tuple[str, ...] = ()
    confidence: int = 1
    context: bool = False
    scope: str = "local"
    combine: str = "select"
    whole: bool = False


def split_form(pictures: int) -> Form[tuple[int, ...]]:
    """Places (from 0) of pictures that begin a new scene, without the first."""
    starts = {"type": "array", "items": _place(pictures)}
    schema = _closed(description=TEXT, single=BOOL, starts=starts)

    def read(text: str) -> tuple[int, ...] | None:
        value = loose_json(text)
        if not isinstance(value, dict) or "single" not in value:
            return None
        if value["single"] is True:
            return ()
        found = {n for n in map(_int, _list(value.get("starts"))) if n and 1 < n <= pictures}
        return tuple(n - 1 for n in sorted(found))

    return Form(schema, read, REPAIR + say.SPLIT_FORM)


def same_scene_form() -> Form[bool]:
    def read(text: str) -> bool | None:
        value = loose_json(text)
        said = value.get("same") if isinstance(value, dict) else None
        return said if isinstance(said, bool) else None

    return Form(_closed(same=BOOL), read, REPAIR + say.SAME_SCENE_FORM)


def salient_form(pictures: int) -> Form[tuple[Character, ...]]:
    """Names are unique in a reply; one with a picture that was not shown is left out."""
    item = _shape(name=TEXT, description=TEXT, picture=_place(pictures))
    schema = _closed(characters={"type": "array", "items": item})

    def read(text: str) -> tuple[Character, ...] | None:
        value = loose_json(text)
        if not isinstance(value, dict) or not isinstance(value.get("characters"), list):
            return None
        out: dict[str, Character] = {}
        for one in _dicts(value["characters"]):
            name, place = _text(one.get("name")).strip("<>"), _int(one.get("picture"))
            if NAME.fullmatch(name) and place and 1 <= place <= pictures:
                out.setdefault(name, Character(name, _text(one.get("description")), place - 1))
        return tuple(out.values())[:MOST_CHARACTERS]

    return Form(schema, read, REPAIR + say.SALIENT_FORM)


def dense_form() -> Form[Dense]:
    def read(text: str) -> Dense | None:
        value = loose_json(text)
        if not isinstance(value, dict):
            return None
        brief, detailed = _text(value.get("brief")), _text(value.get("detailed"))
        names = tuple(_text(n).strip("<>") for n in _list(value.get("appeared")))
        return Dense(brief, tuple(n for n in names if n), detailed or brief) if (
            brief or detailed
        ) else None  # fmt: skip

    return Form(_closed(brief=TEXT, appeared=TEXTS, detailed=TEXT), read, REPAIR + say.DENSE_FORM)


def same_form(first: int, second: int) -> Form[tuple[tuple[int, int, int], ...]]:
    """(place in set 1, place in set 2, which of the two is better: 0 or 1); each place once."""
    place = _place(first + second)
    item = _shape(first=place, second=place, better=place)
    schema = _closed(same={"type": "array", "items": item})

    def read(text: str) -> tuple[tuple[int, int, int], ...] | None:
        value = loose_json(text)
        if not isinstance(value, dict) or not isinstance(value.get("same"), list):
            return None
        out: list[tuple[int, int, int]] = []
        for one in _dicts(value["same"]):
            a, b, better = (_int(one.get(k)) or 0 for k in ("first", "second", "better"))
            fits = 1 <= a <= first < b <= first + second
            if fits and all(a - 1 != x and b - 1 - first != y for x, y, _ in out):
                out.append((a - 1, b - 1 - first, int(better == b)))
        return tuple(out)

    return Form(schema, read, REPAIR + say.SAME_FORM)


def intent_form(video: int) -> Form[Intent]:
    """Of one part, which lies in one video."""
    span = _shape(start_s=NUMBER, end_s=NUMBER)
    spans = {"type": "array", "items": span}
    schema = _closed(reasoning=TEXT, spans=spans, context=BOOL, characters=TEXTS, confidence=SURE)

    def read(text: str) -> Intent | None:
        value = loose_json(text)
        if not isinstance(value, dict) or not isinstance(value.get("spans"), list):
            return None
        return Intent(
            _text(value.get("reasoning")), _spans(value["spans"], video),
            _texts(value.get("characters")), _sure(value.get("confidence")),
            value.get("context") is True,
        )  # fmt: skip

    return Form(schema, read, REPAIR + say.INTENT_FORM)


def reduce_form() -> Form[Intent]:
    span = _shape(video={"type": "integer"}, start_s=NUMBER, end_s=NUMBER)
    schema = _closed(
        reasoning=TEXT, spans={"type": "array", "items": span}, characters=TEXTS,
        scope={"enum": ["local", "global"]}, combine={"enum": ["sum", "merge", "select"]},
        whole=BOOL,
    )  # fmt: skip

    def read(text: str) -> Intent | None:
        value = loose_json(text)
        if not isinstance(value, dict) or not isinstance(value.get("spans"), list):
            return None
        scope, combine = _text(value.get("scope")).lower(), _text(value.get("combine")).lower()
        return Intent(
            _text(value.get("reasoning")), _spans(value["spans"], None),
            _texts(value.get("characters")), 1, False,
            scope if scope in ("local", "global") else "local",
            combine if combine in ("sum", "merge", "select") else "select",
            value.get("whole") is True,
        )  # fmt: skip

    return Form(schema, read, REPAIR + say.REDUCE_FORM)


def goal_form() -> Form[tuple[str, str]]:
    def read(text: str) -> tuple[str, str] | None:
        value = loose_json(text)
        if not isinstance(value, dict):
            return None
        local, whole = _text(value.get("local")), _text(value.get("global"))
        return (local or whole, whole or local) if local or whole else None

    return Form(_closed(**{"local": TEXT, "global": TEXT}), read, REPAIR + say.GOAL_FORM)


def look_form() -> Form[str]:
    """The finding, with how sure it is."""

    def read(text: str) -> str | None:
        value = loose_json(text)
        if not isinstance(value, dict):
            bare = text.strip()
            return None if not bare or bare[0] in "{[`" else bare
        said = _text(value.get("finding"))
        return f"{said} (confidence {_sure(value.get('confidence'))} of 5)" if said else None

    return Form(_closed(finding=TEXT, confidence=SURE), read, REPAIR + say.LOOK_FORM)


# Parts


def _spans(given: object, video: int | None) -> tuple[tuple[int, float, float], ...]:
    out: list[tuple[int, float, float]] = []
    for one in _dicts(given):
        number = video if video is not None else _int(one.get("video")) or 0
        try:
            start_s, end_s = float(str(one.get("start_s"))), float(str(one.get("end_s")))
        except ValueError:
            continue
        if 0 <= start_s <= end_s < 1e9:
            out.append((number, start_s, end_s))
    return tuple(out)


def _shape(**parts: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": parts,
        "required": list(parts),
        "additionalProperties": False,
    }


def _closed(**parts: object) -> str:
    return json.dumps(_shape(**parts))


def _place(most: int) -> dict[str, object]:
    return {"type": "integer", "minimum": 1, "maximum": max(1, most)}


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(t for v in _list(value) if (t := _text(v)))


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []


def _dicts(values: object) -> list[Mapping[str, object]]:
    return [v for v in _list(values) if isinstance(v, dict)]


def _int(value: object) -> int | None:
    found = re.fullmatch(r"\W*(\d{1,9})(?:\.0)?\W*", str(value))
    return int(found[1]) if found else None


def _sure(value: object) -> int:
    return min(5, max(1, _int(value) or 1))
