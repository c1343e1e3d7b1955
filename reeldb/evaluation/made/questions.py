"""Questions of five kinds, each with the facts it needs written into the script.

| kind | needs | asks |
|---|---|---|
| `needle` | one moment | what somebody does once, or which number is on a sign |
| `scattered` | three moments | which three things somebody does something to |
| `counting` | two to five moments | how often somebody does something |
| `order` | three moments | in which order |
| `gist` | the whole video | who, or which place, is shown most |

`asks` is the question in machine form, for a witness that knows which facts are visible:
`give` is what | number | things | count | order | most, the rest says which facts count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, permutations, product
from typing import Any

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.made.cast import CHARACTERS, DOES, THINGS, Character, plain
from reeldb.evaluation.made.script import Fact, Script

KINDS = ("needle", "scattered", "counting", "order", "gist")
CHOICES = 4
_FILL = 0.5  # the share of slots that no question needs in which something happens all the same

Draft = dict[str, Any]  # a Question's fields but id and video


class Writer:
    """Writes questions into a script. No two share a character and a verb, so that what one
    needs is never an answer to another."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.dice = script.dice
        self.pairs = list(product(CHARACTERS, DOES))
        self.dice.shuffle(self.pairs)
        self.signs = [s for s in script.scenes if s.sign]
        self.dice.shuffle(self.signs)
        self.gists = [self._who_most, self._place_most]

    def write(self, count: int) -> list[Draft]:
        """At most `count` questions, the kinds in turn, as long as there is room."""
        makers: dict[str, Callable[[], Draft | None]] = {
            "needle": self._needle,
            "scattered": self._scattered,
            "counting": self._counting,
            "order": self._order,
            "gist": self._gist,
        }
        drafts: list[Draft] = []
        tried = cycle(KINDS)
        while makers and len(drafts) < count:
            kind = next(tried)
            if kind in makers and (draft := makers[kind]()) is not None:
                drafts.append({"kind": kind, **draft})
            else:
                makers.pop(kind, None)
        self._fill()
        return drafts

    # The kinds

    def _needle(self) -> Draft | None:
        if self.signs and self.dice.random() < 0.4:
            return self._sign()
        if not self.pairs or not (slots := self.script.take(1)):
            return None
        who, does = self.pairs.pop()
        what, *others = self.dice.sample(THINGS, CHOICES)
        fact = self.script.act(slots[0], who, does, what)
        return self._draft(
            f"What does {who.called} {plain(does)} in the {fact.where}?", what, others, [fact],
            {"give": "what", "who": who.name, "does": does},
        )  # fmt: skip

    def _sign(self) -> Draft:
        scene = self.signs.pop()
        word, number = scene.sign.split()
        others = self.dice.sample([str(n) for n in range(10, 100) if str(n) != number], CHOICES - 1)
        fact = Fact("sign", scene.start_s, scene.end_s, "")
        return self._draft(
            f"Which number is on the sign that says {word}?", number, others, [fact],
            {"give": "number", "sign": word},
        )  # fmt: skip

    def _scattered(self) -> Draft | None:
        done = self._thrice()
        if done is None:
            return None
        who, does, facts = done
        things = {f.what for f in facts}
        rest = self.dice.sample([t for t in THINGS if t not in things], CHOICES - 1)
        wrong = [(things - {out}) | {new} for out, new in zip(sorted(things), rest, strict=True)]
        return self._draft(
            f"Which three things does {who.called} {plain(does)}?",
            listed(sorted(things)), [listed(sorted(w)) for w in wrong], facts,
            {"give": "things", "who": who.name, "does": does},
        )  # fmt: skip

    def _order(self) -> Draft | None:
        done = self._thrice()
        if done is None:
            return None
        who, does, facts = done
        things = [f.what for f in facts]
        wrong = [p for p in permutations(things) if list(p) != things]
        return self._draft(
            f"In which order does {who.called} {plain(does)} {listed(sorted(things))}?",
            ", then ".join(things),
            [", then ".join(p) for p in self.dice.sample(wrong, CHOICES - 1)], facts,
            {"give": "order", "who": who.name, "does": does},
        )  # fmt: skip

    def _counting(self) -> Draft | None:
        count = self.dice.randint(2, 5)
        if not self.pairs or not (slots := self.script.take(count, places=True)):
            return None
        who, does = self.pairs.pop()
        what = self.dice.choice(THINGS)
        facts = [self.script.act(slot, who, does, what) for slot in slots]
        near = [n for n in range(1, 8) if n != count and abs(n - count) <= 3]
        return self._draft(
            f"How many times does {who.called} {plain(does)} {what}?",
            str(count), [str(n) for n in self.dice.sample(near, CHOICES - 1)], facts,
            {"give": "count", "who": who.name, "does": does, "what": what},
        )  # fmt: skip

    def _gist(self) -> Draft | None:
        while self.gists:
            if (draft := self.gists.pop(0)()) is not None:
                return draft
        return None

    def _who_most(self) -> Draft | None:
        shown = Counter(c.called for s in self.script.scenes for c in s.present)
        return self._most(shown, "Who is in most of the video?", "who")

    def _place_most(self) -> Draft | None:
        shown = Counter(s.where for s in self.script.scenes)
        named = Counter({f"the {place}": n for place, n in shown.items()})
        return self._most(named, "In which place is most of the video?", "where")

    # What they share

    def _most(self, shown: Counter[str], question: str, of: str) -> Draft | None:
        """A question for the one shown most, where it is clear which that is."""
        ranked = shown.most_common()
        if len(ranked) < CHOICES or ranked[0][1] < 2 * ranked[1][1]:
            return None
        whole = Fact("scene", 0.0, float(self.script.seconds), "")
        others = [name for name, _ in ranked[1:CHOICES]]
        return self._draft(question, ranked[0][0], others, [whole], {"give": "most", "of": of})

    def _thrice(self) -> tuple[Character, str, list[Fact]] | None:
        """Three things that somebody does the same to, in three scenes."""
        if not self.pairs or not (slots := self.script.take(3)):
            return None
        who, does = self.pairs.pop()
        things = self.dice.sample(THINGS, 3)
        acts = zip(slots, things, strict=True)
        return who, does, [self.script.act(slot, who, does, what) for slot, what in acts]

    def _draft(
        self, question: str, answer: str, others: Sequence[str], facts: Sequence[Fact],
        asks: dict[str, Any],
    ) -> Draft:  # fmt: skip
        choices = [answer, *others]
        self.dice.shuffle(choices)
        spans = tuple((f.start_s, f.end_s) for f in facts)
        return {"question": question, "answer": answer, "choices": tuple(choices),
                "spans": spans, "asks": asks}  # fmt: skip

    def _fill(self) -> None:
        """Actions that no question asks about."""
        for slot in self.script.free:
            if self.pairs and self.dice.random() < _FILL:
                who, does = self.dice.choice(self.pairs)
                self.script.act(slot, who, does, self.dice.choice(THINGS))
        self.script.free = []


def write_questions(script: Script, video: str, count: int) -> Iterator[Question]:
    """Questions about the script, with ids `<video>-<kind>-<number>`."""
    seen: Counter[str] = Counter()
    stem = video.rpartition(".")[0]
    for draft in Writer(script).write(count):
        kind = draft["kind"]
        yield Question(id=f"{stem}-{kind}-{seen[kind]}", video=video, **draft)
        seen[kind] += 1


def listed(things: Sequence[str]) -> str:
    """
    >>> listed(["a key", "a lamp", "a rope"])
    'a key, a lamp and a rope'
    """
    return f"{', '.join(things[:-1])} and {things[-1]}"
