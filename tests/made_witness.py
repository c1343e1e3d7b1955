"""What the test server answers about a made benchmark: the truth of what it is shown.

It knows every fact of the benchmark's videos, and which of them it may use: those visible at the
moments of the pictures it is sent, and those that a text in the prompt says. From these alone it
captions, answers, scores, chooses actions and writes sub-queries; `asks` of `questions.jsonl` is
how it understands a question. Where what it is shown does not tell, it says so.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from reeldb.evaluation.benchmark import Folder
from reeldb.evaluation.made.cast import CHARACTERS
from tests.made_eyes import at, facts
from tests.witness import _OPTION, NOTHING, Seen, fitted, words

Fact = dict[str, Any]
_LINE = re.compile(r"^\[(\d+)\] (.*)$", re.M)
_NODE = re.compile(r"^(\d+:\d+) (.*)$", re.M)
_MENU = re.compile(r"^(DRILL|EXPAND) (\d+:\d+)( \(open already\))?$", re.M)
_QUESTION = re.compile(r"<question>\n(.*?)\n</question>", re.S)
_SPAN = re.compile(r"^\(([\d.]+), ([\d.]+)\): (.*)$", re.M)
_PARTS = re.compile(r"^video (\d+), \([^)]*\): .*?; spans: (.*?); confidence", re.M)
_SHOWN = "the picture of this time"


class MadeWitness:
    """Callable with a `Seen`; gives the text of the reply."""

    def __init__(self, folder: Path) -> None:
        self.facts = facts(folder)
        self.asks = {q.question: q.asks for q in Folder(folder).questions()}
        self.by_text: dict[str, Fact] = {f["text"]: f for f in self.facts}
        self.called = {c.name: c.called for c in CHARACTERS}

    def __call__(self, seen: Seen) -> str:
        parts = (seen.schema or {}).get("properties", {})
        for part, answer in (
            ("context", self.intent),
            ("combine", self.merged),
            ("local", self.goals),
            ("finding", self.finding),
            ("characters", lambda _: {"characters": []}),
            ("queries", self.queries),
            ("scores", self.scores),
            ("action", self.action),
            ("cites", self.answer),
        ):
            if part in parts:
                return json.dumps(answer(seen))
        if seen.schema is not None:
            return json.dumps(fitted(seen.schema, self.caption(seen), yes=False))
        return self.caption(seen)

    # What is shown

    def visible(self, seen: Seen) -> list[list[Fact]]:
        """The facts of each picture."""
        return [at(self.facts, m) if m else [] for m in seen.moments]

    def said(self, text: str) -> list[Fact]:
        """The facts that a text states."""
        return [f for t, f in self.by_text.items() if t in text]

    def things(self, seen: Seen) -> list[list[Fact]]:
        """The facts of each numbered thing of a prompt, by its text, and by its picture where
        pictures and things are one to one."""
        lines = [line for _, line in _LINE.findall(seen.prompt)]
        found = [self.said(line) for line in lines]
        shown = [i for i, line in enumerate(lines) if _SHOWN in line]
        pictures = self.visible(seen)
        if len(pictures) == len(shown):
            for i, visible in zip(shown, pictures, strict=True):
                found[i] = visible
        elif len(pictures) == len(found):
            found = [a + b for a, b in zip(found, pictures, strict=True)]
        else:
            found += pictures
        return found

    def question(self, seen: Seen) -> dict[str, Any]:
        match = _QUESTION.search(seen.prompt)
        return dict(self.asks[match[1]]) if match and match[1] in self.asks else {}

    # What it says

    def caption(self, seen: Seen) -> str:
        told = [f["text"] for visible in self.visible(seen) for f in visible]
        if not seen.moments:  # asked to sum up what is quoted
            told = [f["text"] for f in self.said(seen.prompt)]
        return " ".join(dict.fromkeys(told)) or NOTHING

    def answer(self, seen: Seen) -> dict[str, Any]:
        asks, things = self.question(seen), self.things(seen)
        options = dict(_OPTION.findall(seen.prompt))
        borne = [i for i, known in enumerate(things, 1) if any(matters(asks, f) for f in known)]
        letter = self.letter(asks, things, options)
        most = len(_LINE.findall(seen.prompt))
        return {
            "reason": "by what is shown",
            "choice": letter or "insufficient",
            "answer": options.get(letter, "insufficient"),
            "cites": [i for i in borne if i <= most][:20] if letter else [],
            "confidence": 5 if letter else 1,
        }

    def letter(
        self, asks: dict[str, Any], things: Sequence[Sequence[Fact]], options: dict[str, str]
    ) -> str:
        """The one option that agrees with what is shown; '' where none or several do."""
        facts = {f["text"]: f for known in things for f in known if matters(asks, f)}
        counted = [f["text"] for known in things for f in known if matters(asks, f)]
        right = [
            k for k, o in options.items() if facts and self.agrees(asks, facts, counted, o, options)
        ]
        return right[0] if len(right) == 1 else ""

    def agrees(
        self,
        asks: dict[str, Any],
        known: dict[str, Fact],
        counted: Sequence[str],
        option: str,
        options: dict[str, str],
    ) -> bool:
        """Whether the option is what the known facts say, as far as they go."""
        in_order = [f["what"] for f in sorted(known.values(), key=lambda f: f["start_s"])]
        match asks["give"]:
            case "what":
                return option in in_order
            case "number":
                return f"{asks['sign']} {option}" in in_order
            case "count":
                return option == str(len(known))
            case "things":
                return set(in_order) <= set(option.replace(" and ", ", ").split(", "))
            case "order":
                places = [option.split(", then ").index(w) for w in in_order]
                return places == sorted(places)
            case _:
                of = asks["of"]
                names = Counter(
                    f"the {known[t]['where']}" if of == "where" else self.called[known[t]["who"]]
                    for t in counted
                )
                asked = {o: names[o] for o in options.values()}
                return asked[option] == max(asked.values()) > 0

    def intent(self, seen: Seen) -> dict[str, Any]:
        """What a part says of the question, and at which scenes."""
        asks, pictures = self.question(seen), self.visible(seen)
        lines = _SPAN.findall(seen.prompt)
        known = [self.said(text) for _, _, text in lines]
        if len(pictures) == len(known):
            known = [a + b for a, b in zip(known, pictures, strict=True)]
        spans, texts = [], dict[str, None]()
        for (start_s, end_s, _), found in zip(lines, known, strict=True):
            mine = [f["text"] for f in found if matters(asks, f)]
            if mine:
                spans.append({"start_s": float(start_s), "end_s": float(end_s)})
            texts |= dict.fromkeys(mine)
        said = " ".join(texts) or "nothing here"
        return {"reasoning": said, "spans": spans, "context": False, "characters": [],
                "confidence": 5 if spans else 1}  # fmt: skip

    def merged(self, seen: Seen) -> dict[str, Any]:
        """The parts' spans as they are, and what they say together."""
        asks = self.question(seen)
        spans = [
            {"video": int(v), "start_s": float(a), "end_s": float(b)}
            for v, listed in _PARTS.findall(seen.prompt)
            for a, b in re.findall(r"\(([\d.]+), ([\d.]+)\)", listed)
        ]
        whole = asks.get("give") in ("count", "most")
        return {"reasoning": "see the parts", "spans": spans, "characters": [],
                "scope": "global" if whole else "local", "combine": "sum" if whole else "merge",
                "whole": whole}  # fmt: skip

    def goals(self, seen: Seen) -> dict[str, Any]:
        """The question itself, both times: by it the witness knows what to look for."""
        match = _QUESTION.search(seen.prompt)
        return {"local": match[1] if match else "", "global": match[1] if match else ""}

    def finding(self, seen: Seen) -> dict[str, Any]:
        asks = self.question(seen)
        found = [f["text"] for known in self.visible(seen) for f in known if matters(asks, f)]
        return {"finding": " ".join(dict.fromkeys(found)) or "nothing of it", "confidence": 5}

    def scores(self, seen: Seen) -> dict[str, Any]:
        """3 for a thing that says what is asked for, 2 for one of the character, else 1."""
        asks = self.question(seen)
        out = []
        for number, line in _LINE.findall(seen.prompt):
            known = self.said(line)
            near = any(asks.get("who") and f["who"] == asks["who"] for f in known)
            score = 3 if any(matters(asks, f) for f in known) else 2 if near else 1
            out.append({"id": int(number), "score": score})
        return {"scores": out}

    def action(self, seen: Seen) -> dict[str, Any]:
        """Into the node that says most of what the question says, to the end once there."""
        question = _QUESTION.search(seen.prompt)
        asked = words(question[1]) if question else frozenset()
        things = [self.said(line) for _, line in _LINE.findall(seen.prompt)]
        options = dict(_OPTION.findall(seen.prompt))
        letter = self.letter(self.question(seen), things, options)
        menu = {node: verb for verb, node, opened in _MENU.findall(seen.prompt) if not opened}
        told = {n: len(asked & words(t)) for n, t in _NODE.findall(seen.prompt) if n in menu}
        if letter or not told:
            return {"action": "ANSWER", "id": "", "answer": options.get(letter, "")}
        best = max(told, key=lambda n: told[n])
        return {"action": menu[best], "id": best, "answer": ""}

    def queries(self, seen: Seen) -> dict[str, Any]:
        """What would have to be seen, by the options; found things are not asked for again."""
        asks = self.question(seen)
        found = {f["what"] for visible in self.visible(seen) for f in visible if matters(asks, f)}
        options = list(dict(_OPTION.findall(seen.prompt)).values())
        wanted = [t for o in options for t in re.split(r", then |, | and ", o)]
        missing = [t for t in dict.fromkeys(wanted) if t not in found]
        match asks.get("give"):
            case "what" | "things" | "order":
                who = self.called[asks["who"]]
                return {"queries": [f"{who} {asks['does']} {t}" for t in missing] or options}
            case "count":
                text = f"{self.called[asks['who']]} {asks['does']} {asks['what']}"
                return {"queries": [text]}
            case "number":
                return {"queries": [f"A sign says {asks['sign']}"]}
        return {"queries": options}


def matters(asks: dict[str, Any], fact: Fact) -> bool:
    """Whether the fact is one that the question is about."""
    match asks.get("give"):
        case "number":
            return fact["kind"] == "sign" and str(fact["what"]).startswith(asks["sign"])
        case "most":
            kind = "scene" if asks["of"] == "where" else "presence"
            return bool(fact["kind"] == kind)
        case None:
            return False
    same: Iterable[str] = ("who", "does", "what")
    return fact["kind"] == "action" and all(asks.get(k, fact[k]) == fact[k] for k in same)
