"""Which tools look at the next chunk, by the words of the summary of the one before.

RVLSM, Algorithm 2 (AdaptiveToolSelector). The paper names four keyword sets without printing
them; ours are in `query/data/tool_words.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data" / "tool_words.toml"
TOOLS = {"actions": "actions", "speech": "speech", "text": "ocr", "objects": "objects"}
Words = Mapping[str, frozenset[str]]


@cache
def tool_words() -> Words:
    """The keyword set of each category."""
    with DATA.open("rb") as file:
        found = tomllib.load(file)["words"]
    return {category: frozenset(found[category]) for category in TOOLS}


def scores(summary: str, words: Words | None = None) -> dict[str, Fraction]:
    """By category: how many of its words occur in the summary, divided by the size of its set."""
    words = tool_words() if words is None else words
    said = set(re.findall(r"[\w-]+", summary.lower()))
    return {c: Fraction(len(said & known), max(1, len(known))) for c, known in words.items()}


def route(summary: str, words: Words | None = None) -> tuple[str, ...]:
    """The relations to read for the next chunk: none where no word occurs, the one whose
    category scores strictly highest, or all where several score best.

    >>> route("A chef pours milk."), route("The narrator explains."), route("Grey noise.")
    (('actions',), ('speech',), ())
    """
    found = scores(summary, words)
    best = max(found.values(), default=Fraction(0))
    if not best:
        return ()
    winners = [c for c, score in found.items() if score == best]
    return (TOOLS[winners[0]],) if len(winners) == 1 else tuple(TOOLS.values())
