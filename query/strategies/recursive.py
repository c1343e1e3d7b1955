"""`recursive`: RVLSM. Chunks of scenes are described one by one, with tools where the chunk
before called for them, and their summaries are joined into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from reeldb.query.strategies.chunk_work import Chunk, ChunkWork, chunks_of
from reeldb.query.strategies.options import count, one_of, positive
from reeldb.query.strategies.plan import Line, Shape
from reeldb.query.strategies.routing import TOOLS, route
from reeldb.query.strategies.verdict import Verdict, from_pictures, insufficient, verdict

if TYPE_CHECKING:
    from reeldb.query.reasoners import Reasoner
    from reeldb.query.task import Seen, Task


@dataclass(frozen=True, slots=True)
class Recursive:
    """Options: `chunks` 'scenes' (merged to at least `chunk_seconds`) or 'fixed';
    `chunk_pictures` a chunk at most; `tools` 'none', 'all' or 'adaptive' (STD, STD+MTC and
    STD+AMTC of the paper), on `tool_pictures` a chunk (0: every grid picture); `planner`
    'fixed' or 'repl'; `depth` 2 splits chunks of more pictures than one call takes;
    `join_chars` of summaries go into one call.
    """

    chunks: str = "scenes"
    chunk_seconds: float = 30.0
    chunk_pictures: int = 32
    tools: str = "adaptive"
    tool_pictures: int = 8
    planner: str = "fixed"
    depth: int = 1
    join_chars: int = 24_000
    turns: int = 20
    fps: float | None = None

    name: ClassVar[str] = "recursive"

    def __post_init__(self) -> None:
        one_of("recursive", "chunks", self.chunks, ("scenes", "fixed"))
        one_of("recursive", "tools", self.tools, ("none", "all", "adaptive"))
        one_of("recursive", "planner", self.planner, ("fixed", "repl"))
        count("recursive", "chunk_pictures", self.chunk_pictures, 1, 32)
        count("recursive", "tool_pictures", self.tool_pictures, 0, 100_000)
        count("recursive", "depth", self.depth, 1, 2)
        count("recursive", "join_chars", self.join_chars, 1_000, 1_000_000)
        count("recursive", "turns", self.turns, 1, 100)
        positive("recursive", "chunk_seconds", self.chunk_seconds)
        positive("recursive", "fps", self.fps)

    def plan(self, shape: Shape) -> list[Line]:
        shape = shape.thinned(self.fps)
        length_s = shape.pictures * shape.step_s
        n = min(shape.pictures, int(length_s / self.chunk_seconds) + shape.videos)
        inner = n if self.depth == 1 else n + -(-shape.pictures // self.chunk_pictures)
        deep = inner - n
        repl = self.turns if self.planner == "repl" and shape.chat else 0
        tools = "" if self.tools == "none" else f"{self.tools} tools"
        return [
            Line("chunks", about=f"at most {n} of at least {self.chunk_seconds:g} s"),
            *([Line("root", calls=repl, about="turns of the REPL")] if repl else []),
            *([Line("read", about=tools)] if tools else []),
            Line("describe", 0 if shape.chat and shape.sees else inner, inner * shape.chat,
                 "one a chunk", kind="node"),
            Line("join", calls=(max(0, n - 1) + deep) * shape.chat),
            Line("answer", calls=int(shape.chat)),
        ]  # fmt: skip

    def answer(self, task: Task, reasoner: Reasoner) -> Verdict:
        chunks = chunks_of(task.grid(self.fps), self.chunks, self.chunk_seconds)
        if not chunks:
            return insufficient(task, "no picture lies in the scope")
        work = ChunkWork(task, self)
        try:
            if self.planner == "repl":
                from reeldb.query.strategies.root import by_root

                said = by_root(task, work, chunks, self)
                if said is not None:
                    return said
                task.partial = True
            found = self.described(work, chunks)
        finally:
            work.report()
        return self._concluded(task, reasoner, work, found)

    def described(self, work: ChunkWork, chunks: Sequence[Chunk]) -> list[Seen]:
        """The chunks' summaries. Only adaptive tools make one depend on the one before."""
        every = tuple(TOOLS.values())
        if self.tools != "adaptive":
            tools = every if self.tools == "all" else ()
            return work.describe_all(chunks, [work.read(c, tools) for c in chunks])
        found: list[Seen] = []
        for chunk in chunks:
            tools = route(found[-1].words) if found else every
            found.append(work.describe(chunk, work.read(chunk, tools)))
        return found

    def _concluded(
        self, task: Task, reasoner: Reasoner, work: ChunkWork, found: Sequence[Seen]
    ) -> Verdict:
        if not any(s.words for s in found):
            nothing = from_pictures(task, reasoner, "nothing could be read of any chunk")
            ended = not nothing.answer and task.work.budget.ended_by is not None
            return replace(nothing, status="partial") if ended else nothing
        silent = sum(not s.words for s in found)
        if silent:
            task.note(f"{silent} of {len(found)} chunks could not be described")
            task.partial = True
        if not task.summary:
            return verdict(task, reasoner.conclude(self._fitted(work, found)))
        if reasoner.name != "chat":
            return every_span(task, reasoner.conclude(found).answer, found)
        task.release()
        whole, levels = work.join(found)
        if levels > 1:
            task.note(f"the summaries of {len(found)} chunks were joined over {levels} levels")
        return every_span(task, (whole.caption or "") if whole else "", found)

    def _fitted(self, work: ChunkWork, found: Sequence[Seen]) -> list[Seen]:
        """The summaries themselves where they fit into one call, else joined ones."""
        read = [s for s in found if s.words]
        if not work.writes or sum(len(s.words) for s in read) <= self.join_chars:
            return read
        whole, _ = work.join(read)
        return [whole] if whole else read


def every_span(task: Task, text: str, found: Sequence[Seen]) -> Verdict:
    """A summary, with everything that it was made from as its evidence."""
    evidence = task.evidence([s for s in found if s.words])
    return Verdict(text, None, None, evidence, "complete" if text else "insufficient")
