"""Films without a file for whole-video strategies: archive rows, pictures drawn when asked for,
and a server that looks at them and knows what is true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reeldb.models.registry import Models
from reeldb.query.engine import Engine
from tests.archives import make_archive, synthetic_video
from tests.query.drawn import Drawn
from tests.seeing import SeeingServer
from tests.witness import Event, Seen, Witness

Scenes = Sequence[tuple[float, float]]


@dataclass
class Story:
    """An archive of films, a server that sees them, and an engine over both."""

    engine: Engine
    server: SeeingServer
    witness: Witness

    def row(self, statement: str) -> dict[str, Any]:
        """The first row that a statement gives."""
        result = self.engine.sql(statement)
        return dict(zip(result.columns, result.fetchall()[0], strict=True))

    def sent(self, part: str) -> list[Seen]:
        """The requests whose reply's schema has this part."""
        return [r for r in self.server.requests if part in (r.schema or {}).get("properties", {})]


def even(seconds: float, scene_s: float) -> Scenes:
    cuts = [i * scene_s for i in range(round(seconds / scene_s))]
    return [(a, a + scene_s) for a in cuts]


@contextmanager
def story(
    place: Path, films: Sequence[Scenes], events: Sequence[Event] = (), **roles: str
) -> Iterator[Story]:
    """Films numbered from 1, with these scenes and a grid of one picture a second."""
    videos = [synthetic_video(f"{n}.mp4", list(s), space=None) for n, s in enumerate(films, 1)]
    archive = make_archive(place, videos)
    witness = Witness(events)
    with SeeingServer(witness) as server:
        config = {"base_url": server.url, "attempts": 2, "backoff_s": 0.01, "concurrency": 16}
        named = dict.fromkeys(("captioner", "chat", "vision"), "openai:seer") | roles
        named = {"embedder": "none", "text_embedder": "fake:text_embedder", "ocr": "none"} | named
        models = Models({r: a for r, a in named.items() if a}, {"openai:seer": config})
        engine = Engine(archive, models, Drawn)
        yield Story(engine, server, witness)
        engine.close()
