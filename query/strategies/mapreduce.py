"""`mapreduce`: MR. Video. Scenes are captioned (A), every part of the film is read for what the
question is about (B), and what was found relevant is looked at with questions of its own (C);
each time independently (map), then together (reduce)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from reeldb.query.operators.replies import Heard, Request
from reeldb.query.prompts import mapping as say
from reeldb.query.prompts.asking import asked, quoted
from reeldb.query.strategies import map_forms as forms
from reeldb.query.strategies.chunks import parts, snapped
from reeldb.query.strategies.map_forms import Intent
from reeldb.query.strategies.options import count, one_of, positive
from reeldb.query.strategies.plan import Line, Shape
from reeldb.query.strategies.scene_work import MOST, SEEING, Scene, SceneWork
from reeldb.query.strategies.verdict import Verdict, from_pictures, insufficient, verdict
from reeldb.query.task import Seen
from reeldb.schema.spans import clock

if TYPE_CHECKING:
    from reeldb.query.reasoners import Reasoner
    from reeldb.query.task import Picture, Task

SPANS = 10  # relevant spans, unless the question is about the whole film


@dataclass(frozen=True, slots=True)
class Part:
    """Scenes of one video that are read together: its number among the videos, and the scenes."""

    video: int
    scenes: Sequence[Scene]

    @property
    def span(self) -> tuple[float, float]:
        return self.scenes[0].start_s, self.scenes[-1].end_s


@dataclass(frozen=True, slots=True)
class MapReduce:
    """Options: `scenes` 'detected' (the scene rows and `scenes.caption`) or 'model' (split and
    captioned densely by the vision model, as in the paper); `characters` looks for recurring
    ones; `segment_scenes` are read together, with their middle pictures where `frames`;
    `margin` scenes are added to spans whose surroundings matter; `local_calls` at most look at
    the spans."""

    scenes: str = "detected"
    characters: bool = True
    segment_scenes: int = 32
    frames: bool = True
    margin: int = 1
    local_calls: int = 64
    window_seconds: float = 10.0
    memory_seconds: float = 60.0
    fps: float | None = None

    name: ClassVar[str] = "mapreduce"

    def __post_init__(self) -> None:
        one_of("mapreduce", "scenes", self.scenes, ("detected", "model"))
        count("mapreduce", "segment_scenes", self.segment_scenes, 1, 1000)
        count("mapreduce", "margin", self.margin, 0, 100)
        count("mapreduce", "local_calls", self.local_calls, 1, 10_000)
        positive("mapreduce", "window_seconds", self.window_seconds)
        positive("mapreduce", "memory_seconds", self.memory_seconds)
        positive("mapreduce", "fps", self.fps)

    def plan(self, shape: Shape) -> list[Line]:
        shape = shape.thinned(self.fps)
        length_s = shape.pictures * shape.step_s
        dense = self.scenes == "model" and shape.chat and shape.sees
        windows = int(length_s / self.window_seconds) + shape.videos
        scenes = shape.pictures if dense else min(shape.pictures, shape.scenes or shape.pictures)
        stretches = int(length_s / self.memory_seconds) + shape.videos
        chat = int(shape.chat)
        people = self.characters and shape.chat and shape.sees
        segments = -(-scenes // self.segment_scenes) + shape.videos
        return [
            *([Line("split", calls=2 * windows, about="windows, and where they meet")]
              if dense else []),
            *([Line("characters", calls=5 * stretches, about="found, and merged")]
              if people else []),
            Line("caption", 0 if dense else scenes, scenes if dense else 0, "one a scene",
                 kind="clip"),
            Line("intent", calls=(segments + 1) * chat, about="map and reduce"),
            Line("look", calls=(1 + self.local_calls + SPANS) * chat, about="at relevant spans"),
            Line("answer", calls=chat),
        ]  # fmt: skip

    def answer(self, task: Task, reasoner: Reasoner) -> Verdict:
        grid = task.grid(self.fps)
        if not len(grid):
            return insufficient(task, "no picture lies in the scope")
        work = SceneWork(task, self)
        work.caption(grid)
        if not any(s.text for s in work.scenes):
            nothing = from_pictures(task, reasoner, "no scene could be captioned")
            unread = task.partial and not nothing.answer
            return replace(nothing, status="partial") if unread else nothing
        if reasoner.name != "chat":
            seen = [_seen(s, work.text(s)) for s in work.scenes if s.text]
            return verdict(task, reasoner.conclude(seen))
        return _Analysis(task, self, work).answer(reasoner)


class _Analysis:
    """Stages B and C, over captions that are there."""

    def __init__(self, task: Task, how: MapReduce, work: SceneWork) -> None:
        self.task, self.how, self.work = task, how, work
        groups = [list(g) for _, g in groupby(work.scenes, lambda s: s.rank)]
        self.videos = groups
        self.parts = [
            Part(n, scenes[a:b])
            for n, scenes in enumerate(groups)
            for a, b in parts(len(scenes), self._together)
        ]

    @property
    def _together(self) -> int:
        """Scenes of a part: no more than pictures fit into a call, where they are shown."""
        shown = self.how.frames and self.work.sees
        return min(self.how.segment_scenes, MOST) if shown else self.how.segment_scenes

    def answer(self, reasoner: Reasoner) -> Verdict:
        maps = self._intents()
        whole = self._reduced(maps)
        spans = self._spans(whole, maps)
        local, together = self._goals(whole)
        found = [*self._local(local, spans), *self._together_seen(together, spans)]
        context = self._context(whole, maps)
        conclusion = reasoner.conclude([context, *found])
        cites = [s for s in conclusion.cites if s is not context] or found[:1]
        return verdict(self.task, replace(conclusion, cites=tuple(cites)))

    # B: what the question is about

    def _intents(self) -> list[Intent | None]:
        """Each part on its own. One that fails is reported, and the rest go on."""
        by_video: dict[int, list[int]] = {}
        for i, part in enumerate(self.parts):
            by_video.setdefault(part.video, []).append(i)
        out: dict[int, Intent | None] = {}
        role = SEEING if self.work.sees and self.how.frames else "reasoner"
        for video, places in by_video.items():
            requests = [self._intent_request(self.parts[i]) for i in places]
            heard = self.task.ask(role, requests, forms.intent_form(video))
            out |= {i: h.value for i, h in zip(places, heard, strict=True)}
        failed = [self.parts[i] for i, intent in out.items() if intent is None]
        if failed:
            self._unseen(failed)
        return [out[i] for i in range(len(self.parts))]

    def _unseen(self, failed: Sequence[Part]) -> None:
        where = ", ".join(f"{clock(p.span[0])}-{clock(p.span[1])}" for p in failed[:5])
        self.task.partial = True
        self.task.note(
            f"{len(failed)} of {len(self.parts)} parts were not analysed and count for nothing: "
            f"{where}"
        )

    def _intent_request(self, part: Part) -> Request:
        lines = [
            f"({s.start_s:g}, {s.end_s:g}): {' '.join(self.work.text(s).split()) or 'no caption'}"
            for s in part.scenes
        ]
        shown = self.how.frames and self.work.sees
        pictures = tuple(s.middle for s in part.scenes) if shown else ()
        text = [say.INTENT.text, quoted("captions", "\n".join(lines)), self._question()]
        return Request("\n".join([*text, say.INTENT_FORM]), pictures)

    def _reduced(self, maps: Sequence[Intent | None]) -> Intent:
        analyses = "\n".join(self._told(i, m) for i, m in enumerate(maps) if m is not None)
        text = [say.REDUCE.text, quoted("analyses", analyses), self._question(), say.REDUCE_FORM]
        [heard] = self.task.ask("reasoner", [Request("\n".join(text))], forms.reduce_form())
        if heard.value is not None:
            return heard.value
        self.task.note("the analyses could not be merged: the spans of the parts stand as they are")
        spans = tuple(x for m in maps if m is not None for x in m.spans)
        return Intent("", spans)

    def _told(self, place: int, intent: Intent) -> str:
        part = self.parts[place]
        spans = ", ".join(f"({a:g}, {b:g})" for _, a, b in intent.spans) or "none"
        who = f"; characters: {', '.join(intent.characters)}" if intent.characters else ""
        return (
            f"video {part.video}, ({part.span[0]:g}, {part.span[1]:g}): {intent.reasoning}; "
            f"spans: {spans}; confidence {intent.confidence}{who}"
        )

    def _spans(
        self, whole: Intent, maps: Sequence[Intent | None]
    ) -> list[tuple[int, float, float]]:
        """The spans that are looked at: at least one, snapped to scenes, in order."""
        wanted = whole.spans
        if not wanted:
            best = max((m for m in maps if m and m.spans), key=lambda m: m.confidence, default=None)
            first = self.parts[0]
            wanted = best.spans if best else ((first.video, *first.span),)
            self.task.note("no span was found relevant: the likeliest part was looked at")
        wanted = wanted if whole.whole else wanted[:SPANS]
        margin = self.how.margin if any(m and m.context for m in maps) else 0
        out = []
        for n, scenes in enumerate(self.videos):
            mine = [(a, b) for v, a, b in wanted if v == n]
            tiles = [(s.start_s, s.end_s) for s in scenes]
            out += [(n, a, b) for a, b in snapped(mine, tiles, margin)]
        first = self.parts[0]
        return out or [(first.video, *first.span)]

    # C: looking with a goal

    def _goals(self, whole: Intent) -> tuple[str, str]:
        text = [
            say.GOAL.text, quoted("analysis", self._summed(whole)), self._question(), say.GOAL_FORM,
        ]  # fmt: skip
        [heard] = self.task.ask("reasoner", [Request("\n".join(text))], forms.goal_form())
        own = self._question()
        return heard.value or (own, own)

    def _local(self, question: str, spans: Sequence[tuple[int, float, float]]) -> list[Seen]:
        """The local question on densely sampled pictures of each span."""
        groups = [self._pictures(span) for span in spans]
        pieces = [g[a:b] for g in groups for a, b in parts(len(g), MOST)]
        if len(pieces) > self.how.local_calls:
            pieces = [_thin(g, MOST) for g in groups][: self.how.local_calls]
        return self._looked(question, pieces)

    def _together_seen(
        self, question: str, spans: Sequence[tuple[int, float, float]]
    ) -> list[Seen]:
        """The global question on one picture a span."""
        middles = [g[len(g) // 2] for g in map(self._pictures, spans) if g]
        if len(middles) < 2:
            return []
        return self._looked(question, [middles[a:b] for a, b in parts(len(middles), MOST)])

    def _pictures(self, span: tuple[int, float, float]) -> list[Picture]:
        video, start_s, end_s = span
        inside = self.task.between(self.videos[video][0].rank, start_s, end_s)
        if inside:
            return inside
        scenes = [s for s in self.videos[video] if s.start_s < end_s and start_s < s.end_s]
        return [p for s in scenes for p in s.pictures]

    def _looked(self, question: str, groups: Sequence[Sequence[Picture]]) -> list[Seen]:
        groups = [g for g in groups if g]
        if not self.work.sees:
            return self._read(groups)
        text = "\n".join([say.LOOK.text, quoted("question", question), say.LOOK_FORM])
        requests = [Request(text, tuple(g)) for g in groups]
        heard = self.task.ask(SEEING, requests, forms.look_form())
        lost = sum(h.value is None for h in heard)
        if lost:
            self.task.partial = True
            self.task.note(f"{lost} of {len(heard)} looks at relevant spans failed")
        return [_found(g, h) for g, h in zip(groups, heard, strict=True) if h.value]

    def _read(self, groups: Sequence[Sequence[Picture]]) -> list[Seen]:
        """Without a vision model: the captions of the spans' scenes."""
        rows = {(p.rank, p.t_s) for g in groups for p in g}
        return [
            _seen(s, self.work.text(s))
            for s in self.work.scenes
            if s.text and any((p.rank, p.t_s) in rows for p in s.pictures)
        ]

    # Words

    def _question(self) -> str:
        return asked(self.task.question, self.task.choices)

    def _summed(self, whole: Intent) -> str:
        who = f"; characters: {', '.join(whole.characters)}" if whole.characters else ""
        return f"{whole.reasoning}; {whole.scope}; findings are to be: {whole.combine}{who}"

    def _context(self, whole: Intent, maps: Sequence[Intent | None]) -> Seen:
        """The analysis of the whole as one thing among those that the answer is made from."""
        told = [self._told(i, m) for i, m in enumerate(maps) if m is not None and m.spans]
        text = "analysis of the captions: " + self._summed(whole) + "; " + "; ".join(told)
        pictures = (self.work.scenes[0].middle, self.work.scenes[-1].middle)
        first, last = self.work.scenes[0], self.work.scenes[-1]
        return Seen(pictures, first.start_s, max(last.end_s, first.end_s), text, None)


def _seen(scene: Scene, text: str) -> Seen:
    return Seen(scene.pictures, scene.start_s, scene.end_s, text, scene.key)


def _found(pictures: Sequence[Picture], heard: Heard[str]) -> Seen:
    start_s, end_s = pictures[0].t_s, pictures[-1].t_s
    end_s = max(end_s, start_s + 0.001)
    return Seen(tuple(pictures), start_s, end_s, heard.value, heard.key or None)


def _thin(pictures: Sequence[Picture], most: int) -> list[Picture]:
    n, m = len(pictures), min(most, len(pictures))
    return [pictures[(2 * i + 1) * n // (2 * m)] for i in range(m)]
