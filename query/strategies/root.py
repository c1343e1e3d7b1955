"""The REPL planner of `recursive`: a root model writes the plan as Python (RVLSM, section 3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reeldb.query.operators.replies import UNPAID, Form, Request
from reeldb.query.prompts.asking import REPAIR, asked, quoted
from reeldb.query.prompts.summing import ROOT, ROOT_FORM
from reeldb.query.repl.functions import CallError, Functions
from reeldb.query.repl.sandbox import Finished, Sandbox, Stopped
from reeldb.query.strategies.chunk_work import Chunk, ChunkWork, chunks_of
from reeldb.query.strategies.routing import TOOLS, route
from reeldb.query.strategies.verdict import EVIDENCE, Verdict

if TYPE_CHECKING:
    from reeldb.query.answer import Choice
    from reeldb.query.strategies.recursive import Recursive
    from reeldb.query.task import Grid, Seen, Task

_BLOCK = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.S)
SHORTEST_S = 0.001


class BudgetEnded(Exception):
    """A function could not be paid for: the session ends."""


def code_form() -> Form[str]:
    return Form("", read_code, REPAIR + ROOT_FORM)


def read_code(text: str) -> str | None:
    """The code block of a reply; None where there is none, or more than one."""
    found = _BLOCK.findall(text)
    return found[0] if len(found) == 1 and found[0].strip() else None


def by_root(task: Task, work: ChunkWork, chunks: Sequence[Chunk], how: Recursive) -> Verdict | None:
    """The root model's answer, or None, with a note, where it came to none."""
    if not task.cast.has("root"):
        task.note("planner => 'repl' needs a chat model, and none is set: the fixed plan was used")
        return None
    desk = _Desk(task, work, how)
    why = _talk(task, desk, how.turns)
    if desk.said is None:
        task.note(f"the root model came to no answer ({why}): the fixed plan was used")
        return None
    return desk.verdict()


def _talk(task: Task, desk: _Desk, turns: int) -> str:
    """Turn by turn until an answer; gives the reason where it ends without one."""
    functions = desk.functions()
    first = "\n".join(
        [
            ROOT.text, "Functions:", functions.described(),
            quoted("metadata", str(desk.metadata())), asked(task.question, task.choices),
            f"Answer within {turns} turns.", ROOT_FORM,
        ]
    )  # fmt: skip
    request = Request(first)
    with Sandbox(functions) as sandbox:
        for left in range(turns - 1, -1, -1):
            [heard] = task.ask("root", [request], code_form())
            if heard.value is None:
                return "the budget ended" if heard.status == UNPAID else heard.status
            try:
                with task.trace.step("run", {"code": heard.value}) as cost:
                    ran = sandbox.run(heard.value)
                    cost.outputs = {"printed": len(ran.output), "error": ran.error}
            except Finished:
                return ""
            except Stopped as error:
                return str(error)
            except BudgetEnded:
                return "the budget ended"
            error_ = f"{quoted('error', ran.error)}\n" if ran.error else ""
            told = f"{quoted('output', ran.output)}\n{error_}{left} turns are left."
            request = request.again(heard.text, told)
    return f"{turns} turns were not enough"


class _Desk:
    """The functions that the root model may call, and what came of them."""

    def __init__(self, task: Task, work: ChunkWork, how: Recursive) -> None:
        self.task, self.work, self.how = task, work, how
        self.said: str | None = None
        self.choice: Choice | None = None
        self.seen: list[Seen] = []
        self._grid = task.grid(how.fps)
        self._every = chunks_of(self._grid, "scenes", SHORTEST_S)

    def functions(self) -> Functions:
        return Functions(
            self.metadata, self.chunks, self.describe, self.read, self.route, self.join, self.answer
        )

    def metadata(self) -> dict[str, object]:
        """The videos in the scope: number, span in seconds, scenes, pictures; and the tools."""
        videos = []
        for n, (first, last) in enumerate(self._grid.videos()):
            mine = [c for c in self._every if c.pictures[0].rank == self._grid[first].rank]
            videos.append(
                {
                    "video": n, "start_s": mine[0].start_s, "end_s": mine[-1].end_s,
                    "scenes": len(mine), "pictures": last - first,
                }
            )  # fmt: skip
        return {"videos": videos, "tools": list(TOOLS.values())}

    def chunks(self, least_s: float = 30.0, how: str = "scenes", video: int = 0) -> list[object]:
        """Chunks of a video as {start_s, end_s}: scenes merged to at least so many seconds, or,
        with how='fixed', equal parts."""
        if how not in ("scenes", "fixed") or least_s <= 0:
            raise CallError("chunks: how is 'scenes' or 'fixed', least_s above 0")
        found = chunks_of(self._video(video), how, least_s)
        return [{"start_s": c.start_s, "end_s": c.end_s} for c in found]

    def describe(
        self,
        start_s: float,
        end_s: float,
        query: str = "",
        tools: list[str] | None = None,
        video: int = 0,
    ) -> str:
        """What a model that sees the pictures says of a span, asked your query (else the question
        itself), told what these tools read in it."""
        chunk = self._chunk(start_s, end_s, video)
        read = self.work.read(chunk, self._known(tools or []))
        seen = self.work.describe(chunk, read, query)
        if seen.state == UNPAID:
            raise BudgetEnded
        self.seen.append(seen)
        return seen.words or f"no description ({seen.state})"

    def read(self, tool: str, start_s: float, end_s: float, video: int = 0) -> str:
        """What a tool (ocr, speech, objects, actions) read in a span: lines with their times."""
        [known] = self._known([tool])
        return self.work.read(self._chunk(start_s, end_s, video), [known]).get(known, "")

    def route(self, summary: str) -> list[str]:
        """The tools that the words of a summary call for."""
        return list(route(summary))

    def join(self, query: str = "") -> str:
        """Everything that describe() gave so far, in order of time, as one text."""
        found = sorted(self.seen, key=lambda s: (s.picture.rank, s.start_s))
        whole, _ = self.work.join(found, query)
        if whole is None:
            raise CallError("join: nothing was described yet")
        return whole.caption or ""

    def answer(self, text: str) -> None:
        """Ends the work with this answer; with options, the letter of one."""
        if not text.strip():
            raise CallError("answer: the text is empty")
        if self.task.choices:
            from reeldb.query.reasoners.choice import read_choice

            self.choice = read_choice(text, self.task.choices)
            if self.choice is None:
                letters = ", ".join(c.letter for c in self.task.choices)
                raise CallError(f"answer: name one option: {letters}")
        self.said = text.strip()
        raise Finished

    def verdict(self) -> Verdict:
        """The answer, with what was described as its evidence."""
        read = [s for s in self.seen if s.words]
        if not read:
            self.task.note("the root model answered without having looked: nothing supports it")
            return Verdict("", None, None, (), "insufficient")
        text = self.choice.text if self.choice else self.said or ""
        found = self.task.evidence(read)
        return Verdict(text, self.choice, None, found if self.task.summary else found[:EVIDENCE])

    def _video(self, n: int) -> Grid:
        videos = self._grid.videos()
        if not 0 <= n < len(videos):
            raise CallError(f"video {n}: there are 0 to {len(videos) - 1}")
        first, last = videos[n]
        return self._grid[first:last]

    def _chunk(self, start_s: float, end_s: float, video: int) -> Chunk:
        mine = tuple(p for p in self._video(video) if start_s <= p.t_s < end_s)
        if not mine:
            raise CallError(f"no picture of video {video} lies in {start_s:g} to {end_s:g} s")
        return Chunk(mine, start_s, end_s)

    def _known(self, tools: Sequence[str]) -> list[str]:
        for tool in tools:
            if tool not in TOOLS.values():
                raise CallError(f"no tool {tool!r}; there are {', '.join(TOOLS.values())}")
        return list(tools)
