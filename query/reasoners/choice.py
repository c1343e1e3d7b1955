"""Which option a reply chooses: read only where it says so, never guessed.

A letter counts in a named field, as the whole reply, or in an explicit final phrase ('the answer
is C', 'so D'). 'Antwort' is not A, 'A boy ...' is not A, and two letters are none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reeldb.query.answer import Choice
from reeldb.query.reasoners.loose_json import loose_json

FIELDS = ("choice", "answer", "option", "letter", "final_answer", "final answer", "prediction")
_L = r"[\(\[\"'*`]*([A-Z]{1,2})[\)\]\"'*`]*"  # a letter, however it is wrapped
_AFTER = r"(?=\s*(?:$|[.,;:!?)\n]|[-–—]|because\b|since\b|as\b|given\b|based\b|which\b|due\b))"
_SAYS = re.compile(
    r"(?i:\b(?:answer|choice|option|response)\b\W{0,3}(?:is|=|:|would be|must be)\W{0,3}"
    r"(?:(?:option|choice|letter)\s+)?|\b(?:choose|chose|pick|select|go with)\s+"
    r"(?:(?:option|choice|letter|answer)\s+)?)" + _L + _AFTER
)
_SO = re.compile(r"(?i:\b(?:so|therefore|thus|hence)\b,?\s+(?:it(?:'s| is)\s+)?)" + _L + r"\W*\Z")
_OR = re.compile(r"\s*(?:or|and|/|,|&)\s*[\(\[\"'*`]*[A-Z]{1,2}(?![\w'])")
_NOT = re.compile(r"(?i:\b(?:not|never|n't|neither)\W*\Z)")
_WHOLE = re.compile(r"\A\W*(?:(?i:option|choice|answer)\W+)?([A-Z]{1,2})\W*\Z")


def read_choice(text: str, choices: Sequence[Choice]) -> Choice | None:
    """The option that the reply chooses, or None where it cannot be told."""
    if not choices:
        return None
    value = loose_json(text)
    if isinstance(value, dict):
        return choice_in(value, choices)
    if text.lstrip("` \njson").startswith("{"):
        return None  # cut off: what its fields would have been is not known
    return _plain(text, choices)


def choice_in(fields: dict[str, object], choices: Sequence[Choice]) -> Choice | None:
    """The option in the first named field that is there and names one."""
    lowered = {str(k).lower(): v for k, v in fields.items()}
    for name in FIELDS:
        value = lowered.get(name)
        if isinstance(value, dict):
            value = value.get("letter") or value.get("text")
        if isinstance(value, str) and (found := _plain(value, choices)):
            return found
    return None


def _plain(text: str, choices: Sequence[Choice]) -> Choice | None:
    return _whole(text, choices) or _final(text, choices)


def _whole(text: str, choices: Sequence[Choice]) -> Choice | None:
    """The whole reply is a letter, an option's text, or the two together."""
    by_letter = {c.letter: c for c in choices}
    match = _WHOLE.match(text)
    if match and match[1] in by_letter:
        return by_letter[match[1]]
    bare = _bare(text)
    same = [
        c
        for c in choices
        if bare and (bare == _bare(c.text) or bare == _bare(f"{c.letter} {c.text}"))
    ]
    return same[0] if len(same) == 1 else None


def _final(text: str, choices: Sequence[Choice]) -> Choice | None:
    """The last explicit phrase; None where it takes back, or leaves it at two."""
    by_letter = {c.letter: c for c in choices}
    said = [m for p in (_SAYS, _SO) for m in p.finditer(text) if m[1] in by_letter]
    said = [m for m in said if not _NOT.search(text[: m.start(1)].rstrip("([\"'*` "))]
    if not said:
        return None
    last = max(said, key=lambda m: m.start(1))
    if _OR.match(text, last.end()):
        return None
    return by_letter[last[1]]


def _bare(text: str) -> str:
    """Letters and digits only, in lower case."""
    return " ".join(re.findall(r"\w+", text.lower()))
