"""Looks of a speech model: the rows of `speech` that do not come with the file.

What is kept is on the sound's own clock, so every video with that sound shares it; a row is
moved to a video's clock when it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reeldb.index.clock import moved
from reeldb.query.fillers.base import Work
from reeldb.query.fillers.looks import Looks, Place, Row, Seen, Spots, code, numbers_of
from reeldb.query.windows import STEP_MS, WINDOW_MS, clipped, core_ms, windows_of
from reeldb.schema.digests import look_key
from reeldb.schema.models import Heard, Listening, SpeechTool

if TYPE_CHECKING:
    from reeldb.schema.models import Sound

SUBTITLE = "subtitle"
RATE = 16_000  # Hz, what speech models want
SILENCE = 1e-3  # peak amplitude, -60 dB: below it there is nothing to hear, and no call
MARGIN_S = 0.001  # of rounding


class SpeechLooks(Looks):
    """A place is a window of sound, by its number (`query.windows`)."""

    others = (SUBTITLE,)

    def __init__(self, work: Work) -> None:
        super().__init__(work, "speech", SpeechTool)
        self.tool = cast(SpeechTool, self.model)

    @property
    def batch_size(self) -> int:
        return self.tool.batch_size

    def spots(self) -> Spots:
        def make() -> Spots:
            places = [
                place
                for rank in range(len(self.work.catalog.snapshot.videos))
                for place in self.places_in(rank, 0.0, self.work.catalog.video(rank).duration_s)
            ]
            return Spots(*np.array(places, np.int64).reshape(-1, 2).T)

        return self.work.catalog.kept("speech windows", ["videos"], None, make)

    def places_in(self, rank: int, start_s: float, end_s: float) -> list[Place]:
        """The windows that can give rows in `[start_s, end_s)` of a video; none without sound."""
        video = self.work.catalog.video(rank)
        if video.sound_id is None:
            return []
        from_s, to_s = (t - video.sound_start_s for t in (start_s - MARGIN_S, end_s + MARGIN_S))
        bounds = {n: self._core_s(rank, n) for n in windows_of(from_s, to_s)}
        return [(rank, n) for n, (lo, hi) in bounds.items() if lo < end_s and start_s < hi]

    def _core_s(self, rank: int, number: int) -> tuple[float, float]:
        """Where rows of a window can lie, on the video's clock."""
        video = self.work.catalog.video(rank)
        lo, hi = (float(moved(ms / 1000, video.sound_start_s)) for ms in core_ms(number))
        return max(0.0, lo), min(video.duration_s, hi)

    def recorded(self) -> Iterable[int]:
        ranks = numbers_of(self.work.catalog.snapshot.videos["sound_id"].to_pylist())
        runs = self.runs
        sounds, starts = runs["content_id"].to_pylist(), runs["start_ms"].to_pylist()
        for sound, ms in zip(sounds, starts, strict=True):
            for rank in ranks.get(sound, ()):
                yield code(rank, ms // STEP_MS)

    def key(self, place: Place) -> tuple[str, str]:
        sound = self.work.catalog.video(place[0]).sound_id
        if sound is None:
            raise AssertionError("a video without sound has no windows")
        return look_key(sound, self.role, self.model.identity, *self.span_ms(place)), sound

    def span_ms(self, place: Place) -> tuple[int, int]:
        return place[1] * STEP_MS, place[1] * STEP_MS + WINDOW_MS

    def foreseen(self, spots: Spots) -> Mapping[str, pa.Array]:
        """A row that stands for a window sorts before all that the window can give."""
        cores = [
            self._core_s(r, n)
            for r, n in zip(spots.rank.tolist(), spots.number.tolist(), strict=True)
        ]
        lo, hi = (pa.array([c[i] for c in cores], pa.float64()) for i in (0, 1))
        line_no = pa.array(np.full(len(cores), -1, np.int32))
        return {"start_s": lo, "end_s": lo, "line_no": line_no, "__lo": lo, "__hi": hi}

    def shown(self, place: Place, row: Row) -> Row | None:
        return self.on_clock(place[0], row)

    def on_clock(self, rank: int, row: Row) -> Row | None:
        """A row on the clock of a video; None where the video is not on at that time."""
        video = self.work.catalog.video(rank)
        start_s, end_s = (float(moved(row[n], video.sound_start_s)) for n in ("start_s", "end_s"))
        if end_s <= 0 or start_s >= video.duration_s:
            return None
        return {**row, "start_s": max(0.0, start_s), "end_s": min(video.duration_s, end_s)}

    def twins(self, place: Place) -> Iterable[Place]:
        sound = self.work.catalog.video(place[0]).sound_id
        sounds = self.work.catalog.snapshot.videos["sound_id"].to_pylist()
        return ((twin, place[1]) for twin, other in enumerate(sounds) if other == sound)

    def stored_row(self, place: Place, row: Row) -> Row:
        return {**row, "key": self.key(place)[0], "source_id": self.key(place)[1]}

    @property
    def stored_by_place(self) -> dict[Place, list[Row]]:
        """On the sound's clock."""

        def make() -> dict[Place, list[Row]]:
            rows = self.work.catalog.snapshot.rows("speech")
            rows = rows.filter(pc.equal(rows["model"], self.model.identity))
            ranks = numbers_of(self.work.catalog.snapshot.videos["sound_id"].to_pylist())
            windows = dict(
                zip(self.runs["key"].to_pylist(), self.runs["start_ms"].to_pylist(), strict=True)
            )
            out: dict[Place, list[Row]] = {}
            for row in rows.to_pylist():
                if row["key"] not in windows:
                    continue
                for rank in ranks.get(row["source_id"], ()):
                    out.setdefault((rank, windows[row["key"]] // STEP_MS), []).append(row)
            return out

        tables = ["videos", "speech", "tool_runs"]
        return self.work.catalog.kept("heard", tables, self.model.identity, make)

    def subtitles(self, rank: int) -> list[Row]:
        """The subtitles of a video, in time order."""

        def make() -> dict[str, list[Row]]:
            rows = self.work.catalog.snapshot.relation("speech")
            out: dict[str, list[Row]] = {}
            for row in rows.filter(pc.equal(rows["model"], SUBTITLE)).to_pylist():
                out.setdefault(row["video_id"], []).append(row)
            return out

        found = self.work.catalog.kept("subtitles", ["videos", "speech", "tool_runs"], None, make)
        return found.get(self.work.catalog.video(rank).video_id, [])

    # Listening

    def see(self, places: Sequence[Place]) -> None:
        sounds = self._sounds(places)
        quiet = [p for p, s in sounds.items() if not s.size or float(np.abs(s).max()) < SILENCE]
        self.keep({p: Seen("empty", note="silence, not sent") for p in quiet})
        loud = [p for p in sounds if p not in quiet]
        heard = loud[: self.granted(len(loud))]
        given = [sounds[p] for p in heard]
        found, seconds = self.ask("windows", len(heard), lambda tool: tool.listen(given, RATE))
        self.keep({p: _seen(p[1], x, seconds) for p, x in zip(heard, found, strict=True)})

    def _sounds(self, places: Sequence[Place]) -> dict[Place, Sound]:
        """The sound of each window; those that follow one another are read from disk at once."""
        out: dict[Place, Sound] = {}
        for run in _runs(places):
            video = self.work.catalog.video(run[0][0])
            start_ms, end_ms = self.span_ms(run[0])[0], self.span_ms(run[-1])[1]
            first_s = video.sound_start_s + start_ms / 1000
            sound = self.work.pictures.sound(video, first_s, first_s + (end_ms - start_ms) / 1000)
            if sound is None:
                self.unread.update(run)
                continue
            for place in run:
                at = (self.span_ms(place)[0] - start_ms) * RATE // 1000
                out[place] = sound[at : at + WINDOW_MS * RATE // 1000] if len(run) > 1 else sound
        return {p: out[p] for p in places if p in out}  # the budget goes by this order


def _runs(places: Sequence[Place]) -> list[list[Place]]:
    """Places in stretches whose windows follow one another."""
    out: list[list[Place]] = []
    for place in sorted(places):
        rank, number = place
        if out and out[-1][-1] == (rank, number - 1):
            out[-1].append(place)
        else:
            out.append([place])
    return out


def _seen(number: int, found: Listening, seconds: float) -> Seen:
    if found.status in ("failed", "refused"):
        return Seen(found.status, (), found.note, seconds)
    cut = (clipped(number, heard) for heard in found.heard)
    rows = [_row(heard) for heard in cut if heard is not None]
    return Seen("ok" if rows else "empty", rows, found.note, seconds)


def _row(heard: Heard) -> Row:
    return {
        "start_s": round(heard.start_s, 3), "end_s": round(heard.end_s, 3), "text": heard.text,
        "confidence": heard.confidence, "language": heard.language,
    }  # fmt: skip
