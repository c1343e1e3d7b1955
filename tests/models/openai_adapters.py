"""Adapters at a test server, with a clock that does not make tests wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any

import numpy as np

from reeldb.models.openai.captioner import OpenAICaptioner
from reeldb.models.openai.chat import OpenAIChat
from reeldb.models.openai.embedder import OpenAITextEmbedder
from reeldb.models.openai.endpoint import Endpoint
from reeldb.models.openai.server import Clock, Server
from reeldb.models.openai.speech import OpenAISpeech
from reeldb.schema.models import CaptionRequest, Message
from tests.clips import Picture
from tests.seeing import SeeingServer
from tests.timecode import stamped


class QuickClock(Clock):
    """Waiting takes no time; `waits` are the seconds of each."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self._now = 1000.0
        self._lock = Lock()

    def now(self) -> float:
        return self._now

    def wait(self, seconds: float, stop: Event) -> None:
        with self._lock:
            self.waits.append(seconds)
            self._now += seconds


class Adapters:
    """Adapters that share one connection to one server."""

    def __init__(self, url: str, key: str = "no-key") -> None:
        self.clock = QuickClock()
        self.server = Server(url, key, trust_env=False)
        self.server.clock = self.clock

    def captioner(self, model: str = "seer", **settings: Any) -> OpenAICaptioner:
        return OpenAICaptioner(f"openai:{model}", self._endpoint(settings), self.server)

    def chat(self, model: str = "seer", **settings: Any) -> OpenAIChat:
        return OpenAIChat(f"openai:{model}", self._endpoint(settings), self.server)

    def embedder(self, model: str = "speller", **settings: Any) -> OpenAITextEmbedder:
        return OpenAITextEmbedder(f"openai:{model}", self._endpoint(settings), self.server)

    def speech(self, model: str = "listener", **settings: Any) -> OpenAISpeech:
        return OpenAISpeech(f"openai:{model}", self._endpoint(settings), self.server)

    def _endpoint(self, settings: dict[str, Any]) -> Endpoint:
        return Endpoint(**{"base_url": self.server.base_url, "timeout_s": 10.0, **settings})


@contextmanager
def adapters(seeing: SeeingServer, key: str = "no-key") -> Iterator[Adapters]:
    made = Adapters(seeing.url, key)
    try:
        yield made
    finally:
        made.server.close()


def picture(t_s: float, video: int = 1, size: tuple[int, int] = (320, 180)) -> Picture:
    return stamped(np.full((size[1], size[0], 3), 90, np.uint8), video, t_s)


def request(times_s: Sequence[float], prompt: str = "Describe the pictures.") -> CaptionRequest:
    return CaptionRequest([picture(t) for t in times_s], list(times_s), prompt)


def question(text: str, times_s: Sequence[float] = ()) -> list[Message]:
    return [Message("user", text, [picture(t) for t in times_s], list(times_s))]
