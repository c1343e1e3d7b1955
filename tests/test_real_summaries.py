"""SUMMARIZE of real films: by the built-in models, and over HTTP by a server that sees them.

For the server the films are copied at two pictures a second with a time code over the top edge,
so it knows which moment each picture shows; what is true then was read off the films. A chunk
sends 32 pictures of its 60 or more, so a moment below 1.2 s may be missed: none is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

import reeldb
from reeldb.schema.spans import clock
from tests.clips import Picture, write_clip
from tests.seeing import SeeingServer
from tests.timecode import stamped
from tests.witness import Event, Witness

SECOND = 0.5
FILMS: dict[str, list[Event]] = {
    "sintel_trailer.mp4": [
        Event(1, 2, 5, "Mountains lie under snow."),
        Event(1, 10, 12, "The Blender Foundation presents."),
        Event(1, 25, 33, "A dragon flies."),
        Event(1, 42, 45, "The title says SINTEL."),
    ],
    "googlework_short.mp4": [
        Event(1, 0, 7, "Sights of Paris."),
        Event(1, 17.9, 20.3, "Four people sit on a sofa."),
        Event(1, 20.5, 23.5, "Carlo is a vice president."),
        Event(1, 23.7, 25.6, "A man types on a laptop."),
        Event(1, 28, 31, "Omar is a software engineer."),
    ],
    "big_buck_bunny.mp4": [
        Event(1, 22, 25, "The Peach open movie project presents."),
        Event(1, 33, 38, "A rabbit sleeps in its burrow."),
        Event(1, 79, 82, "It looks at a butterfly."),
        Event(1, 93, 96, "It eats an apple."),
        Event(1, 178, 182, "A nut hits its head."),
        Event(1, 385, 390, "A bird sits on a branch."),
        Event(1, 575, 580, "Ton Roosendaal produced it."),
    ],
}


def with_time_code(source: Path, copy: Path) -> Path:
    """The film at two pictures a second and 320 pixels wide, each with its moment."""

    def pictures() -> Iterator[tuple[float, Picture]]:
        shown = 0
        with av.open(str(source)) as film:
            stream = film.streams.video[0]
            stream.thread_type = "AUTO"
            first_s: float | None = None
            for frame in film.decode(stream):
                assert frame.time is not None
                first_s = frame.time if first_s is None else first_s
                if frame.time - first_s >= shown * SECOND:
                    height = 320 * frame.height // frame.width // 2 * 2
                    small = frame.reformat(320, height, "rgb24").to_ndarray()
                    yield shown * SECOND, stamped(np.asarray(small, np.uint8), 1, shown * SECOND)
                    shown += 1

    return write_clip(copy, pictures(), fps=1 / SECOND)


@pytest.mark.parametrize("name", FILMS)
def test_a_summary_by_a_server_that_sees_tells_what_happens_in_order(
    name: str, shared_videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    film, events = with_time_code(shared_videos / "real" / name, tmp_path / name), FILMS[name]
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "config.toml"))
    with SeeingServer(Witness(events)) as server, reeldb.open(tmp_path / "archive") as db:
        db.add(film, reeldb.Settings(fps=2), embedder="none")
        for role in ("vision", "chat", "captioner"):
            db.set_model(role, "openai:seer", base_url=server.url)
        answer = db.summarize(name, strategy="recursive(tools => 'none')")
        duration_s = db.sql("SELECT duration_s FROM videos").fetchall()[0][0]
    assert answer.status == "complete"
    told = [answer.text.index(e.text) for e in events]
    assert told == sorted(told)
    assert max(len(r.moments) for r in server.requests) <= 32
    spans = [(e.start_s, e.end_s) for e in answer.evidence]
    assert spans == sorted(spans) and spans[0][0] == 0 and spans[-1][1] == duration_s
    assert all(end_s == start_s for (_, end_s), (start_s, _) in pairwise(spans))


@pytest.mark.parametrize(
    "name, read",
    [
        ("sintel_trailer.mp4", "SINTEL"),
        ("googlework_short.mp4", "CARLO"),
        ("big_buck_bunny.mp4", "THE PEACH OPEN MOVIE PROJECT"),
    ],
)
def test_a_summary_by_the_built_in_models_is_honest_and_quotes_the_screen(
    name: str, read: str, shared_videos: Path, tmp_path: Path
) -> None:
    source = shared_videos / "real" / name
    if name == "big_buck_bunny.mp4":  # its beginning: to read the whole takes minutes
        source = first_s(source, 60, tmp_path / name)
    with reeldb.open(tmp_path / "archive") as db:
        db.add(source)
        answer = db.summarize(name, strategy="recursive(tool_pictures => 0)")
    assert answer.reasoner == "extract" and answer.status == "complete"
    assert any("no language model wrote this summary" in n for n in answer.notes)
    assert f"on screen: {read}" in answer.text or read in answer.text
    times = re.findall(r"^(\d\d:\d\d:[\d.]+)-(\d\d:\d\d:[\d.]+): ", answer.text, re.M)
    assert times == [(clock(e.start_s), clock(e.end_s)) for e in answer.evidence]


def first_s(source: Path, seconds: float, copy: Path) -> Path:
    """The first seconds of a film, not decoded."""
    with av.open(str(source)) as film, av.open(str(copy), "w") as out:
        stream = film.streams.video[0]
        mine = out.add_stream_from_template(stream)
        for packet in film.demux(stream):
            if packet.dts is not None and packet.pts is not None:
                if float(packet.dts * packet.time_base) > seconds:
                    break
                packet.stream = mine
                out.mux(packet)
    return copy
