"""JSON out of what models write: fences, talk around it, single quotes, trailing commas."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

MOST_CHARS = 200_000
MOST_STARTS = 50  # brackets at which an object may begin
_COMMA = re.compile(r",\s*([}\]])")
_NAMES = {"true": "True", "false": "False", "null": "None"}
_WORD = re.compile(r"\b(true|false|null)\b")
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.S)


def loose_json(text: str) -> dict[str, object] | list[object] | None:
    """The last object or list that the text holds, not counting those inside others.

    None where there is none that can be read. The last, because models think aloud first.

    >>> loose_json('Sure! ```json\\n{"choice": "B",}\\n``` Hope it helps.')
    {'choice': 'B'}
    >>> loose_json("{'choice': None}"), loose_json("no braces")
    ({'choice': None}, None)
    """
    found = list(_values(_THOUGHT.sub("", text[:MOST_CHARS])))
    objects = [v for v in found if isinstance(v, dict)]
    return objects[-1] if objects else found[-1] if found else None


def _values(text: str) -> Iterator[dict[str, object] | list[object]]:
    at = starts = 0
    while starts < MOST_STARTS and (match := re.search(r"[{\[]", text[at:])):
        first = at + match.start()
        starts += 1
        end = _end(text, first)
        value = _read(text[first:end]) if end else None
        if value is not None and end:
            yield value
            at = end
        else:
            at = first + 1


def _end(text: str, first: int) -> int | None:
    """Behind the bracket that closes the one at `first`, strings skipped; None where open."""
    depth, quote, at = 0, "", first
    while at < len(text):
        c = text[at]
        if quote:
            if c == "\\":
                at += 1
            elif c == quote:
                quote = ""
        elif c == '"' or (c == "'" and _opens(text, at)):
            quote = c
        elif c in "{[":
            depth += 1
        elif c in "}]":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return None


def _opens(text: str, at: int) -> bool:
    """Whether an apostrophe begins a string: it stands after a bracket, comma or colon."""
    before = text[:at].rstrip()
    return bool(before) and before[-1] in "{[,:"


def _read(text: str) -> dict[str, object] | list[object] | None:
    for one in (text, _COMMA.sub(r"\1", text)):
        try:
            value = json.loads(one, strict=False)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict | list) else None
    try:
        value = ast.literal_eval(_WORD.sub(lambda m: _NAMES[m[1]], text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None
