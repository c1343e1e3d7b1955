"""`auto`: which strategy a question gets, by a table of rules that people can read.

The first rule that fits decides; its reason goes into the trace. To replace the table by
something learned, give `bound` (query/ask.py) another function from facts to a `Pick`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from reeldb.query.budget import MANY

ONE_CALL = 64  # pictures that a single answer call is shown
SHORT_S = 600.0
FEW_CALLS = 12  # of a budget: not enough to search with
SCENES_A_PART = 32
SCENE_S = 8.0  # four pictures, one every two seconds

_LOOKUP = re.compile(
    r"^\s*(?:how many (?:\w+ ){0,2}?(?:videos?|scenes?|shots?|frames?|captions?|answers?)\b"
    r"|(?:list|show|give|find)(?: me)?(?: all| every)?(?: of)?(?: the)? (?:\w+ ){0,2}?"
    r"(?:videos?|scenes?|shots?|frames?|captions?)\b"
    r"|(?:in )?which (?:videos?|scenes?|shots?)\b"
    r"|what is the (?:longest|shortest|average|total)\b.*\b(?:videos?|scenes?|shots?)\b)",
    re.I,
)
_KINDS = (
    ("summary", r"\bsummar|\bwhat (?:is|was) (?:the|this) (?:video|film|movie) about\b|\bgist\b"
                r"|\bmain(?:ly)? (?:about|topic|theme)\b"),
    ("share", r"\b(?:most|majority|half|much) of (?:the|this) (?:video|film|movie|time|footage)\b"
              r"|\bmost (?:often|frequent|common)|\b(?:mostly|mainly|predominantly|usually)\b"),
    ("count", r"\bhow (?:many|often)\b|\bnumber of\b|\bcount\b|\bhow much time\b"),
    ("order", r"\b(?:first|last|before|after|then|order|sequence|earlier|later|next)\b"),
    ("why", r"^\s*why\b|\bhow come\b|\breason\b|\bpurpose\b"),
)  # fmt: skip


def kind_of(question: str) -> str:
    """lookup, summary, share, count, order, why or detail: what the words of a question ask for.

    >>> kind_of("How many videos mention a price?"), kind_of("how many goals does he score?")
    ('lookup', 'count')
    """
    if _LOOKUP.search(question):
        return "lookup"
    found = (kind for kind, words in _KINDS if re.search(words, question, re.I))
    return next(found, "detail")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules go by. `cached` is the share of the scope's scenes whose caption is there;
    `calls` how many calls the budget allows; `whole` whether the scope is the whole archive."""

    kind: str
    length_s: float
    pictures: int
    scenes: int
    videos: int
    cached: float = 0.0
    calls: int = MANY
    chat: bool = False
    sees: bool = False
    vectors: bool = False
    grounded: bool = False  # vectors of a model that knows pictures and texts together
    whole: bool = True
    choices: bool = False

    def record(self) -> dict[str, object]:
        calls = "unbounded" if self.calls >= MANY else self.calls
        return {
            "kind": self.kind, "length_s": round(self.length_s, 3), "pictures": self.pictures,
            "scenes": self.scenes, "videos": self.videos, "cached": round(self.cached, 3),
            "calls": calls, "chat": self.chat, "sees": self.sees, "vectors": self.vectors,
            "grounded": self.grounded,
        }  # fmt: skip

    @property
    def short_scenes(self) -> bool:
        """Whether a scene's few pictures are likely to show all that happens in it. Without
        grounded vectors there is nothing better, and it does not matter."""
        return not self.grounded or self.length_s <= SCENE_S * self.scenes

    @property
    def reading(self) -> float:
        """Calls that reading every scene would take: captions that are missing, and parts."""
        return self.scenes * (1 - self.cached) + 2 * self.scenes / SCENES_A_PART + 8


@dataclass(frozen=True, slots=True)
class Pick:
    """A strategy, its options, and why."""

    strategy: str
    because: str
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    when: Callable[[Facts], bool]
    strategy: str
    because: str
    options: Mapping[str, object] = field(default_factory=dict)


RULES: tuple[Rule, ...] = (
    Rule(lambda f: f.kind == "lookup" and f.whole and f.chat and not f.choices,
         "lookup", "the question is a lookup over tables: a SELECT answers it exactly"),
    Rule(lambda f: not f.chat and f.vectors,
         "topk", "without a language model nothing beats the most similar pictures"),
    Rule(lambda f: not f.chat,
         "uniform", "there is no language model and no vector: pictures spread evenly remain"),
    Rule(lambda f: f.sees and f.pictures <= ONE_CALL,
         "uniform", "all pictures of the scope fit into one call", {"n": ONE_CALL}),
    Rule(lambda f: f.kind == "share" and f.sees,
         "uniform", "what is most of a video is best seen in pictures spread evenly",
         {"n": ONE_CALL}),
    Rule(lambda f: f.calls < FEW_CALLS and f.vectors and f.sees,
         "dpp", "the budget is small: pictures are chosen by their vectors, without captions"),
    Rule(lambda f: f.calls < FEW_CALLS and f.vectors,
         "topk", "the budget is small: a few captions of the most similar pictures"),
    Rule(lambda f: f.calls < FEW_CALLS,
         "uniform", "the budget is small and there are no vectors"),
    Rule(lambda f: f.kind == "summary",
         "recursive", "a question about the whole: every stretch is read in order"),
    Rule(lambda f: f.kind in ("count", "order") and f.short_scenes and f.reading <= f.calls,
         "mapreduce", "counting and ordering need every scene, and the budget reads them all"),
    Rule(lambda f: f.grounded and f.sees,
         "dpp", "the vectors know pictures and texts: relevant, unlike pictures are shown"),
    Rule(lambda f: f.cached >= 0.8 and f.reading <= f.calls,
         "mapreduce", "most scenes are captioned already: reading them all is cheap"),
    Rule(lambda f: f.length_s > SHORT_S,
         "descent", "the scope is long: a search goes down to the moment"),
    Rule(lambda f: f.vectors,
         "tree", "the scope is short: its clusters are captioned and the relevant ones opened"),
    Rule(lambda f: True,
         "descent", "there are no vectors: a search goes down by captions"),
)  # fmt: skip


def pick(facts: Facts, known: Mapping[str, object]) -> Pick:
    """The strategy of the first rule that fits, of those that are `known`."""
    rule = next(r for r in RULES if r.strategy in known and r.when(facts))
    return Pick(rule.strategy, rule.because, rule.options)
