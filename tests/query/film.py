"""Long films without a file: archive rows, pictures drawn when they are asked for, and a
server that looks at them and plays judge, searcher and reasoner from the true events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reeldb.models.fake import FakeEmbedder
from reeldb.models.openai.endpoint import NO_KEY
from reeldb.models.openai.server import server_at
from reeldb.models.registry import Models
from reeldb.query.answer import Answer
from reeldb.query.ask import Question, ask
from reeldb.query.engine import Engine
from reeldb.schema.digests import digest
from tests.archives import make_archive, synthetic_video
from tests.query.drawn import Drawn
from tests.seeing import SeeingServer
from tests.witness import Event, Rule, Seen, Witness, words

DIM = 32
SPACE = f"fake:embedder@{DIM}"
SCENE_S = 30
CHOICES = ("a dragon", "a juggler", "a locomotive", "an umbrella")
_NODE = re.compile(r"^(\d+:\d+) (\d\d):(\d\d):(\d\d)(?:\.\d+)?-(\d\d):(\d\d):(\d\d)", re.M)
_MENU = re.compile(r"^(DRILL|EXPAND) (\d+:\d+)( \(open already\))?$", re.M)
_LINE = re.compile(r"^\[(\d+)\] (.*)$", re.M)
_OPTION = re.compile(r"^([A-Z])\) (.+)$", re.M)


@dataclass
class Oracle:
    """Knows where the event is. `script` are its first replies as a searcher, in order; `judged`
    the relevance it gives to what shows the event."""

    event: Event
    script: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    sufficient: bool = True
    judged: int = 3

    def __call__(self, seen: Seen) -> str | None:
        parts = (seen.schema or {}).get("properties", {})
        if "action" in parts:
            self.told.append(seen.prompt)
            return self.script.pop(0) if self.script else self._act(seen.prompt)
        if "scores" in parts:
            return self._score(seen.prompt)
        if "choice" in parts or "outcome" in parts:
            return self._answer(seen)
        return None

    def _act(self, prompt: str) -> str:
        if self.event.text in prompt:
            return _json(action="ANSWER", id="", answer=self._letter(prompt))
        spans = {m[1]: (_s(m[2], m[3], m[4]), _s(m[5], m[6], m[7])) for m in _NODE.finditer(prompt)}
        for action, node, opened in reversed(_MENU.findall(prompt)):
            start_s, end_s = spans.get(node, (0, 0))
            if start_s <= self.event.start_s < end_s and not opened:
                return _json(action=action, id=node, answer="")
        return _json(action="ANSWER", id="", answer="")

    def _score(self, prompt: str) -> str:
        found = [
            {"id": int(i), "score": self.judged if self.event.text in line else 1}
            for i, line in _LINE.findall(prompt)
        ]
        return json.dumps({"scores": found})

    def _answer(self, seen: Seen) -> str:
        cites = [int(i) for i, line in _LINE.findall(seen.prompt) if self.event.text in line]
        shown = any(self._at(m) for m in seen.moments)
        if not self.sufficient or not (cites or shown):
            return _json(reason="", choice="insufficient", outcome="insufficient", answer="",
                         cites=[], confidence=1)  # fmt: skip
        letter = self._letter(seen.prompt)
        return _json(reason="it is seen", choice=letter, outcome="answered",
                     answer=self.event.text, cites=cites[-1:], confidence=5)  # fmt: skip

    def _at(self, moment: tuple[int, float] | None) -> bool:
        e = self.event
        return bool(moment and moment[0] == e.video and e.start_s <= moment[1] < e.end_s)

    def _letter(self, prompt: str) -> str:
        options = {k: words(o) for k, o in _OPTION.findall(prompt)}
        return next((k for k, w in options.items() if w <= words(self.event.text)), "")


def _s(hours: str, minutes: str, seconds: str) -> int:
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds)


def _json(**parts: Any) -> str:
    return json.dumps(parts)


@dataclass
class Film:
    """An archive of long films, a server that sees them, and an engine over both."""

    engine: Engine
    server: SeeingServer
    events: Sequence[Event]

    def ask(
        self, oracle: Oracle | None = None, question: str = "is there a juggler?", **more: Any
    ) -> Answer:
        rules: list[Rule] = [] if oracle is None else [oracle]
        self.server.witness = Witness(self.events, rules)
        choices = more.pop("choices", CHOICES)
        return ask(self.engine, Question(question, choices, **more))


def needle(video: int, start_s: float, seconds: float = 3.0, what: str = "a juggler") -> Event:
    return Event(video, start_s, start_s + seconds, f"There is {what}.")


def vectors_of(times: Sequence[float], events: Sequence[Event], video: int) -> NDArray[np.float32]:
    """Pictures of a scene are alike; those of an event are like its text."""
    told = {e.text: FakeEmbedder("fake:embedder").embed_texts([e.text])[0] for e in events}
    out = np.empty((len(times), DIM), np.float32)
    for i, t in enumerate(times):
        about = next((e.text for e in events if e.video == video and e.start_s <= t < e.end_s), "")
        scene = _direction(f"scene {video} {int(t // SCENE_S) % 12}")
        vector = 3 * told[about] + scene if about else scene
        out[i] = vector + 0.05 * _direction(f"{video} {t}")
    return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True), np.float32)


def _direction(name: str) -> NDArray[np.float32]:
    rng = np.random.default_rng(int(digest(name)[:12], 16))
    vector = rng.standard_normal(DIM)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


@contextmanager
def film(
    place: Path, minutes: Sequence[float], events: Sequence[Event], **roles: str
) -> Iterator[Film]:
    """Films of these lengths, numbered from 1, with a grid of one picture a second."""
    videos = []
    for number, length in enumerate(minutes, 1):
        end_s = round(length * 60)
        cuts = [float(s) for s in range(0, end_s, SCENE_S)]
        scenes = list(zip(cuts, [*cuts[1:], float(end_s)], strict=True))
        plain = synthetic_video(f"{number}.mp4", scenes, space=None)
        frames: Any = plain.frames
        times = frames["t_s"].to_pylist()
        vectors = vectors_of(times, events, number)
        videos.append(synthetic_video(f"{number}.mp4", scenes, space=SPACE, vectors=vectors))
    archive = make_archive(place, videos)
    with SeeingServer(Witness(events)) as server:
        config = {"base_url": server.url, "attempts": 2, "backoff_s": 0.01, "concurrency": 16}
        named = dict.fromkeys(("captioner", "chat", "vision"), "openai:seer") | roles
        named = {"embedder": "fake:embedder", "text_embedder": "fake:text_embedder"} | named
        models = Models(named, {"openai:seer": config})
        engine = Engine(archive, models, Drawn)
        yield Film(engine, server, events)
        engine.close()
        server_at(server.url, NO_KEY, False).close()
