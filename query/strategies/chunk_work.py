"""What `recursive` does with a chunk, whoever plans it: read tools, describe, join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from reeldb.query.operators.replies import Form, Heard, Request
from reeldb.query.prompts.asking import REPAIR, asked, listed, quoted
from reeldb.query.prompts.summing import CHUNK, JOIN, SUMMARY_FORM
from reeldb.query.reasoners.loose_json import loose_json
from reeldb.query.strategies.chunks import fixed_chunks, scene_chunks
from reeldb.query.strategies.joins import joined
from reeldb.query.task import Seen, Stretch
from reeldb.schema.spans import clock

if TYPE_CHECKING:
    from reeldb.query.strategies.recursive import Recursive
    from reeldb.query.task import Grid, Picture, Task

SCHEMA = (
    '{"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"], '
    '"additionalProperties": false}'
)
NAMES = {"ocr": "on screen", "speech": "said", "objects": "objects", "actions": "actions"}
MOST_READ = 6_000  # characters of one tool's readings that go into a prompt


def summary_form() -> Form[str]:
    return Form(SCHEMA, read_summary, REPAIR + SUMMARY_FORM)


def read_summary(text: str) -> str | None:
    """The summary that a reply holds; prose without JSON is one, a broken object is none."""
    value = loose_json(text)
    if isinstance(value, dict):
        said = value.get("summary")
        return said.strip() or None if isinstance(said, str) else None
    bare = text.strip()
    return None if not bare or bare[0] in "{[`" else bare


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of one video, and all its grid pictures in the scope."""

    pictures: tuple[Picture, ...]
    start_s: float
    end_s: float

    def spread(self, most: int) -> tuple[Picture, ...]:
        n, m = len(self.pictures), min(most, len(self.pictures))
        return tuple(self.pictures[(2 * i + 1) * n // (2 * m)] for i in range(m))


def chunks_of(grid: Grid, how: str, least_s: float) -> list[Chunk]:
    """The grid's videos in chunks; a chunk without a picture in the scope is left out."""
    out: list[Chunk] = []
    for first, last in grid.videos():
        pictures = list(grid[first:last])
        scenes = [k for k, _ in groupby((p.scene_start_s, p.scene_end_s) for p in pictures)]
        if how == "fixed":
            spans = fixed_chunks(scenes[0][0], scenes[-1][1], least_s)
        else:
            spans = scene_chunks(tiled(scenes), least_s)
        for start_s, end_s in spans:
            mine = tuple(p for p in pictures if start_s <= p.t_s < end_s)
            if mine:
                out.append(Chunk(mine, start_s, end_s))
    return out


def tiled(scenes: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Scenes without the gaps of those that hold no picture of the scope.

    >>> tiled([(0.0, 2.0), (3.0, 5.0)])
    [(0.0, 3.0), (3.0, 5.0)]
    """
    ends = [s[0] for s in scenes[1:]] + [scenes[-1][1]] if scenes else []
    return [(a, max(b, end)) for (a, b), end in zip(scenes, ends, strict=True)]


class ChunkWork:
    """The steps of one question. `knowledge` is what tools read, by relation."""

    def __init__(self, task: Task, how: Recursive) -> None:
        self.task, self.how = task, how
        self.writes = task.cast.has("sub")
        self._missing: dict[str, None] = {}

    # Tools

    def read(self, chunk: Chunk, tools: Sequence[str]) -> dict[str, str]:
        """What these tools read in a chunk, as text; a tool that is not there is left out."""
        out: dict[str, str] = {}
        times = [p.t_s for p in self._looked_at(chunk)]
        for tool in tools:
            video_id = chunk.pictures[0].video_id
            found = self.task.read(tool, video_id, chunk.start_s, chunk.end_s, times)
            if not found.there:
                self._missing[tool] = None
            elif found.lines:
                out[tool] = told(found.lines)[:MOST_READ]
        return out

    def _looked_at(self, chunk: Chunk) -> tuple[Picture, ...]:
        return chunk.spread(self.how.tool_pictures) if self.how.tool_pictures else chunk.pictures

    def report(self) -> None:
        """Says which tools were skipped."""
        for tool in self._missing:
            self.task.note(f"no {tool} model is set and nothing is on record: it was skipped")

    # Describing

    def describe(self, chunk: Chunk, read: dict[str, str], query: str = "") -> Seen:
        """The chunk's summary, by the sub model, or else what a captioner says of it."""
        return self.describe_all([chunk], [read], query)[0]

    def describe_all(
        self, chunks: Sequence[Chunk], reads: Sequence[dict[str, str]], query: str = ""
    ) -> list[Seen]:
        """The chunks' summaries; they do not depend on each other."""
        deep = [c for c in chunks if self.how.depth > 1 and len(c.pictures) > self._most]
        if deep and self.writes:
            return [self._deep(c, r, query) for c, r in zip(chunks, reads, strict=True)]
        return self._flat(chunks, reads, query)

    @property
    def _most(self) -> int:
        return self.how.chunk_pictures

    def _deep(self, chunk: Chunk, read: dict[str, str], query: str) -> Seen:
        """A chunk of many pictures as chunks of its own, joined (RVLSM, section 6)."""
        from reeldb.query.strategies.chunks import parts

        pieces = parts(len(chunk.pictures), self._most)
        if len(pieces) < 2:
            return self._flat([chunk], [read], query)[0]
        edges = [chunk.start_s, *(chunk.pictures[a].t_s for a, _ in pieces[1:]), chunk.end_s]
        inner = [
            Chunk(chunk.pictures[a:b], edges[i], edges[i + 1]) for i, (a, b) in enumerate(pieces)
        ]
        found = self._flat(inner, [read] * len(inner), query)
        whole, _ = self.join(found, query)
        return whole or found[0]

    def _flat(
        self, chunks: Sequence[Chunk], reads: Sequence[dict[str, str]], query: str
    ) -> list[Seen]:
        if not self.writes:
            return self._captioned(chunks, reads)
        sees = self.task.cast.sees("sub")
        shown = [c.spread(self._most) for c in chunks]
        told_ = [""] * len(chunks) if sees else [s.caption or "" for s in self._captions(chunks)]
        requests = [
            Request(self._asking(c, r, text, query), pictures if sees else ())
            for c, r, text, pictures in zip(chunks, reads, told_, shown, strict=True)
        ]
        heard = self.task.ask("sub", requests, summary_form())
        return [_seen(c, h, pictures) for c, h, pictures in zip(chunks, heard, shown, strict=True)]

    def _asking(self, chunk: Chunk, read: dict[str, str], text: str, query: str) -> str:
        parts = [CHUNK.text, f"The stretch is {span(chunk.start_s, chunk.end_s)}."]
        if text:
            parts.append(quoted("seen", text))
        parts += [quoted(NAMES[tool].replace(" ", "_"), said) for tool, said in read.items()]
        return "\n".join([*parts, self._wanted(query), SUMMARY_FORM])

    def _wanted(self, query: str) -> str:
        return quoted("question", query) if query else asked(self.task.question, self.task.choices)

    def _captions(self, chunks: Sequence[Chunk]) -> list[Seen]:
        return self.task.describe(
            [Stretch(c.spread(self._most), c.start_s, c.end_s) for c in chunks]
        )

    def _captioned(self, chunks: Sequence[Chunk], reads: Sequence[dict[str, str]]) -> list[Seen]:
        """Without a sub model: the caption of the chunk's pictures, and the readings as such."""
        return [
            replace(
                s,
                onscreen=flat(r.get("ocr", "")),
                spoken=flat(r.get("speech", "")),
                caption="; ".join(
                    t
                    for t in (s.caption, *(
                        f"{NAMES[k]}: {flat(r[k])}" for k in ("objects", "actions") if k in r
                    ))
                    if t
                )
                or None,
            )
            for s, r in zip(self._captions(chunks), reads, strict=True)
        ]  # fmt: skip

    # Joining

    def join(self, found: Sequence[Seen], query: str = "") -> tuple[Seen | None, int]:
        """The summaries as one by the root model, over as many levels as it takes to fit."""

        def join(several: list[Sequence[Seen]]) -> list[Seen]:
            requests = [
                Request(
                    "\n".join(
                        [JOIN.text, quoted("summaries", listed(s)), self._wanted(query),
                         SUMMARY_FORM]
                    )
                )
                for s in several
            ]  # fmt: skip
            heard = self.task.ask("root", requests, summary_form())
            return [_joined(s, h) for s, h in zip(several, heard, strict=True)]

        read = [s for s in found if s.caption]
        return joined(read, lambda s: len(s.words), self.how.join_chars, join)


def _seen(chunk: Chunk, heard: Heard[str], pictures: tuple[Picture, ...]) -> Seen:
    key = heard.key or None
    return Seen(pictures, chunk.start_s, chunk.end_s, heard.value, key, heard.status)


def _joined(several: Sequence[Seen], heard: Heard[str]) -> Seen:
    """A join that failed leaves the summaries as they are, one after the other."""
    text = heard.value or "\n".join(s.caption or "" for s in several)
    pictures = tuple(p for s in several for p in s.pictures)
    return Seen(pictures, several[0].start_s, several[-1].end_s, text, heard.key or None)


def told(lines: Sequence[tuple[float, str]]) -> str:
    """Readings, in the order of reading, as lines with their times; what is read again and again
    is told once.

    >>> told([(1.0, "EXIT"), (1.0, "Bar"), (2.0, "EXIT")])
    '00:00:01 EXIT\\n00:00:01 Bar'
    """
    first: dict[str, float] = {}
    for t_s, text in lines:
        first.setdefault(text, t_s)
    return "\n".join(f"{clock(round(t_s, 3))} {text}" for text, t_s in first.items())


def flat(text: str) -> str:
    """Readings on one line, without their times."""
    return ", ".join(line.partition(" ")[2] for line in text.splitlines())


def span(start_s: float, end_s: float) -> str:
    return f"{clock(round(start_s, 3))} to {clock(round(end_s, 3))}"
