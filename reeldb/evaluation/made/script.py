"""One made video before it is drawn: its scenes, and every fact that is true in it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from reeldb.evaluation.made.cast import CHARACTERS, PLACES, SIGNS, Character

Kind = Literal["scene", "presence", "sign", "action"]
SHORTEST_S, LONGEST_S = 20, 60  # of a scene
ACTION_S = (4, 10)  # a slot for one action, from and to
MARGIN_S = 1  # from the cuts
OFTEN, SELDOM = 0.65, 0.18  # the share of scenes that the main character, and others, are in
COMMON = 0.3  # the share of scenes in the place that is shown most


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is visible during `[start_s, end_s)`; `text` says it in a sentence."""

    kind: Kind
    start_s: float
    end_s: float
    text: str
    who: str = ""
    does: str = ""
    what: str = ""
    where: str = ""

    def row(self, video: str, code: int) -> dict[str, Any]:
        """A line of events.jsonl."""
        return {"video": video, "code": code, "kind": self.kind, "start_s": self.start_s,
                "end_s": self.end_s, "text": self.text, "who": self.who, "does": self.does,
                "what": self.what, "where": self.where}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scene:
    """A stretch between two hard cuts, in one place; `sign` is what a board there says."""

    number: int
    start_s: float
    end_s: float
    where: str
    present: tuple[Character, ...]
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """Room for one action within one scene."""

    scene: Scene
    start_s: float
    end_s: float


@dataclass
class Script:
    """A video's scenes and facts. `free` are slots in which nothing happens yet, shuffled."""

    seconds: int
    dice: random.Random
    scenes: list[Scene]
    main: Character
    free: list[Slot]
    actions: list[Fact] = field(default_factory=list)

    def facts(self) -> list[Fact]:
        """All that is true, by time."""
        found = [*self._of_scenes(), *self.actions]
        return sorted(found, key=lambda f: (f.start_s, f.end_s, f.text))

    def act(self, slot: Slot, who: Character, does: str, what: str) -> Fact:
        """Writes an action into a slot that was taken."""
        where = slot.scene.where
        text = f"{who.called} {does} {what} in the {where}."
        fact = Fact("action", slot.start_s, slot.end_s, text, who.name, does, what, where)
        self.actions.append(fact)
        return fact

    def take(self, count: int, *, places: bool = False) -> list[Slot] | None:
        """`count` free slots in different scenes (in different `places`), by time; None and
        nothing taken where there are not that many."""
        taken: list[Slot] = []
        seen: set[object] = set()
        for slot in self.free:
            mark = slot.scene.where if places else slot.scene.number
            if len(taken) < count and mark not in seen:
                taken.append(slot)
                seen.add(mark)
        if len(taken) < count:
            return None
        self.free = [s for s in self.free if s not in taken]
        return sorted(taken, key=lambda s: s.start_s)

    def _of_scenes(self) -> Iterator[Fact]:
        for s in self.scenes:
            yield Fact("scene", s.start_s, s.end_s, f"The place is the {s.where}.", where=s.where)
            for c in s.present:
                text = f"{c.called} is there."
                yield Fact("presence", s.start_s, s.end_s, text, who=c.name, where=s.where)
            if s.sign:
                text = f"A sign says {s.sign}."
                yield Fact("sign", s.start_s, s.end_s, text, what=s.sign, where=s.where)


def blank(seconds: int, seed: str) -> Script:
    """Scenes with places, characters and signs, but no action yet."""
    dice = random.Random(seed)
    spans = _spans(seconds, dice)
    places = _places(len(spans), dice)
    cast = dice.sample(CHARACTERS, len(CHARACTERS))
    present = _present(len(spans), cast, dice)
    signs = [f"{word} {dice.randint(10, 99)}" for word in dice.sample(SIGNS, len(SIGNS))]
    with_sign = set(dice.sample(range(len(spans)), min(len(signs), len(spans) // 3)))
    scenes = [
        Scene(i, a, b, where, who, signs.pop() if i in with_sign else "")
        for i, ((a, b), where, who) in enumerate(zip(spans, places, present, strict=True))
    ]
    free = [slot for scene in scenes for slot in _slots(scene, dice)]
    dice.shuffle(free)
    return Script(seconds, dice, scenes, cast[0], free)


def _spans(seconds: int, dice: random.Random) -> list[tuple[float, float]]:
    ends = [0]
    while seconds - ends[-1] > LONGEST_S:
        most = min(LONGEST_S, seconds - ends[-1] - SHORTEST_S)
        ends.append(ends[-1] + dice.randint(SHORTEST_S, most))
    ends.append(seconds)
    return [(float(a), float(b)) for a, b in pairwise(ends)]


def _places(count: int, dice: random.Random) -> list[str]:
    """A place for each scene, never twice in a row; the first of the shuffled ones the most."""
    names = dice.sample(list(PLACES), len(PLACES))
    common = set(
        dice.sample(range(0, count, 2), min(len(range(0, count, 2)), round(COMMON * count)))
    )
    out: list[str] = []
    for i in range(count):
        others = [n for n in names[1:] if not out or n != out[-1]]
        out.append(names[0] if i in common else dice.choice(others))
    return out


def _present(count: int, cast: list[Character], dice: random.Random) -> list[tuple[Character, ...]]:
    """Who is in each scene: the first of the cast in most, three others in few."""
    often = set(dice.sample(range(count), round(OFTEN * count)))
    seldom = [set(dice.sample(range(count), round(SELDOM * count))) for _ in cast[1:4]]
    return [
        tuple(c for c, on in zip(cast[:4], (often, *seldom), strict=True) if i in on)
        for i in range(count)
    ]


def _slots(scene: Scene, dice: random.Random) -> Iterator[Slot]:
    at = scene.start_s + MARGIN_S
    while True:
        long = dice.randint(*ACTION_S)
        if at + long > scene.end_s - MARGIN_S:
            return
        yield Slot(scene, at, at + long)
        at += long + dice.randint(1, 3)
