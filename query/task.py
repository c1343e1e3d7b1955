"""One question being answered: its scope, its budget, its trace, and the operators.

Strategies call operators; they never touch tables. All operators of a question work on one
snapshot, one ledger and one budget, and each writes a step of the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from reeldb.query.answer import Choice, Evidence
from reeldb.query.budget import Kind
from reeldb.query.operators.captions import KEPT, Stretch, StretchCaptions
from reeldb.query.operators.grid import Grid, Picture
from reeldb.query.operators.nearest import PictureVectors
from reeldb.query.operators.replies import UNPAID, UNPARSED, Form, Heard, Replies, Request
from reeldb.query.operators.tools import Reading, ToolReader
from reeldb.query.operators.trace import Cost, Trace, Watch
from reeldb.query.operators.words import stored_words
from reeldb.query.operators.worth import scenes_worth, top_scenes
from reeldb.query.prompts import FRAME, NODE, SCENE, Prompt
from reeldb.query.roles import Cast
from reeldb.query.similar import Similarity
from reeldb.schema.errors import ExecuteError

if TYPE_CHECKING:
    from reeldb.query.fillers.base import Work
    from reeldb.query.result import Result
    from reeldb.schema.models import Vectors

REACH_S = 5.0  # evidence shows this much of a scene to either side of the picture
KEPT_FOR_THE_ANSWER = 2  # calls of a budget that the search may not use up
SHOWN = 64  # pictures whose times a step of the trace lists
T = TypeVar("T")

__all__ = ["Form", "Grid", "Heard", "Picture", "Request", "Seen", "Stretch", "Task"]


@dataclass(frozen=True, slots=True)
class Seen:
    """What was looked at, and what was read of it. `state` is that of the caption: ok, empty,
    refused, failed, unread, or unpaid where the budget ended before it."""

    pictures: tuple[Picture, ...]
    start_s: float
    end_s: float
    caption: str | None
    key: str | None
    state: str = "ok"
    onscreen: str = ""
    spoken: str = ""

    @property
    def picture(self) -> Picture:
        """The one that stands for all."""
        return self.pictures[len(self.pictures) // 2]

    @property
    def words(self) -> str:
        return "\n".join(t for t in (self.caption, self.onscreen, self.spoken) if t)


class Task:
    """What a strategy works on.

    `recorded` are the ledger keys of an answer that is replayed, with what became of them: then
    operators make nothing, and a key that the ledger has lost is an ExecuteError. `bounded` says
    that the user gave the
    budget: then repeated requests are debited from it too.
    """

    def __init__(
        self,
        question: str,
        choices: tuple[Choice, ...],
        grid: Grid,
        work: Work,
        cast: Cast,
        *,
        bounded: bool = False,
        recorded: Mapping[str, str] | None = None,
        watch: Watch | None = None,
        summary: bool = False,
        tools: ToolReader | None = None,
    ) -> None:
        self.question, self.choices, self.cast, self.work = question, choices, cast, work
        self.notes, self.keys, self.partial = work.notes, dict[str, str](), False
        self.trace = Trace(work.budget, watch)
        self.summary, self._tools = summary, tools
        self._grid, self._bounded, self._recorded = grid, bounded, recorded
        self._made: set[str] = set()
        self._reused: set[str] = set()
        self._by_select = [0, 0]  # captions that SELECTs made and reused
        self._repeats = 0
        self._held = self._hold()

    # Operators: pictures

    def grid(self, fps: float | None = None) -> Grid:
        """All grid pictures in the scope, thinned to about `fps` a second where given."""
        with self.trace.step("grid", {"fps": fps}) as cost:
            grid = self._grid.stride(fps)
            cost.outputs = {"pictures": len(grid), "videos": len(grid.videos())}
        return grid

    def between(self, rank: int, start_s: float, end_s: float) -> list[Picture]:
        """The pictures of the scope in a span of one video (by its rank). No step of the trace."""
        grid = self._grid
        inside = (grid.rank == rank) & (grid.t_s >= start_s) & (grid.t_s < end_s)
        return list(grid.take(np.flatnonzero(inside).tolist()))

    def uniform(self, n: int, grid: Grid | None = None) -> list[Picture]:
        """At most n pictures spread evenly over the grid, in (video, time) order."""
        with self.trace.step("uniform", {"n": n}) as cost:
            found = list((self._grid if grid is None else grid).spread(n))
            cost.outputs = _times(found)
        return found

    def search(self, text: str, k: int, grid: Grid | None = None) -> list[Picture]:
        """The k grid pictures most similar to the text, best first, with their `relevance`."""
        grid = self._grid if grid is None else grid
        with self.trace.step("search", {"text": text, "k": k}) as cost:
            best = self._vectors(embeds=True).best(text, k, grid) if len(grid) else []
            found = [replace(grid[i], relevance=score) for i, score in best]
            cost.outputs = _times(found)
        return found

    def narrow(self, videos: int, fps: float | None = None) -> Grid:
        """The grid, of no more than so many videos: of more, those that hold the scenes most
        worth a look by pictures, captions, on-screen text and speech together."""
        grid = self.grid(fps)
        if len(grid.videos()) <= videos:
            return grid
        with self.trace.step("narrow", {"text": self.question, "videos": videos}) as cost:
            vectors = self._vectors(embeds=True) if self.has_vectors() else None
            worth = scenes_worth(self.work.catalog, grid, vectors, self.question)
            best = list(dict.fromkeys(w.rank for w in worth))[:videos]
            grid = grid.of_videos(best or grid.rank[:1].tolist())
            names = [self.work.catalog.video(r).name for r in best]
            cost.outputs = {"videos": names, "pictures": len(grid), **top_scenes(worth)}
        return grid

    # Operators: vectors

    def vectors(self, pictures: Sequence[Picture]) -> Vectors:
        """The stored unit vectors, float32 (pictures, dim); a row of NaN where there is none.

        Raises BindError, with the cure, where the archive has none of the embedder in use.
        """
        with self.trace.step("vectors", {"pictures": len(pictures)}) as cost:
            found = self._vectors().of(pictures)
            cost.outputs = {"without": int(np.isnan(found[:, :1]).sum())}
        return found

    def cosines(self, texts: Sequence[str], pictures: Sequence[Picture]) -> Vectors:
        """Cosines of shape (texts, pictures), float32; NaN where a picture has no vector."""
        with self.trace.step("cosines", {"texts": list(texts), "pictures": len(pictures)}):
            return self._vectors(embeds=True).cosines(texts, pictures)

    def has_vectors(self) -> bool:
        models = self.cast.models
        if models.address("embedder") is None:
            return False
        return models.embedder().space in self.work.catalog.snapshot.spaces()

    def text_cosines(self, texts: Sequence[str], others: Sequence[str]) -> Vectors:
        """Cosines of shape (texts, others) by the text embedder."""
        embed = self.cast.models.text_embedder().embed_texts
        self.work.unmetered(self.cast.models.address("text_embedder"))
        return np.asarray(embed(list(texts)) @ embed(list(others)).T, np.float32)

    # Operators: looking

    def look(self, pictures: Sequence[Picture], prompt: Prompt = FRAME) -> list[Seen]:
        """The pictures with their captions (made where missing, within the budget), and with
        the on-screen text and speech that the archive already holds, in the given order."""
        stretches = [Stretch((p,), p.t_s, p.t_s) for p in pictures]
        kind = "frame" if prompt is FRAME else "asked"
        seen = self._captioned(stretches, kind, prompt)
        words = stored_words(self.work.catalog, pictures)
        return [
            replace(s, onscreen=onscreen, spoken=spoken)
            for s, (onscreen, spoken) in zip(seen, words, strict=True)
        ]

    def show(self, pictures: Sequence[Picture]) -> list[Seen]:
        """The pictures as they are, with stored on-screen text and speech; nothing is made."""
        words = stored_words(self.work.catalog, pictures)
        return [
            Seen((p,), p.t_s, p.t_s, None, None, "shown", onscreen, spoken)
            for p, (onscreen, spoken) in zip(pictures, words, strict=True)
        ]

    def describe(self, stretches: Sequence[Stretch], prompt: Prompt = NODE) -> list[Seen]:
        """One caption a stretch, of all its pictures together, in the given order. With the
        prompt SCENE and a scene's own pictures it is `scenes.caption`."""
        return self._captioned(stretches, "clip" if prompt is SCENE else "node", prompt)

    def read(
        self, tool: str, video_id: str, start_s: float, end_s: float, times_s: Sequence[float]
    ) -> Reading:
        """What a tool (ocr, speech, objects, actions) read in a span of a video; picture tools
        look at these times only."""
        if self._tools is None:
            return Reading(there=False)
        inputs = {"kind": tool, "video": video_id, "span": [start_s, end_s]}
        with self.trace.step("read", inputs) as cost:
            found = self._tools.read(tool, video_id, start_s, end_s, times_s)
            cost.made = cost.calls = found.calls
            cost.outputs = {"lines": len(found.lines), "there": found.there}
        self.partial |= found.partial
        return found

    def select(self, statement: str) -> Result:
        """What a SELECT gives, run by the ordinary planner within the budget that is left."""
        if self._tools is None:
            raise ExecuteError("no statement can be run here")
        with self.trace.step("select", {"statement": statement}) as cost:
            found = self._tools.select(statement)
            cost.made = int(found.stats.get("captions_made", 0))
            cost.reused = int(found.stats.get("captions_reused", 0))
            cost.calls = int(found.stats.get("calls", 0))
            cost.outputs = {"rows": found.arrow().num_rows, "status": found.status}
        self._by_select[0] += cost.made
        self._by_select[1] += cost.reused
        return found

    # Operators: asking

    def ask(
        self, role: str, requests: Sequence[Request], form: Form[T], temperature: float = 0.0
    ) -> list[Heard[T]]:
        """One reply a request, in order; the model of the role is asked in parallel, once a
        request ever, at the temperature where it takes one. A reply that cannot be read is
        repaired once; nothing here raises for a reply that is missing or wrong: see
        `Heard.status`.
        """
        if any(r.pictures for r in requests) and not self.cast.sees(role):
            self.note(f"the {role} takes no pictures: it was asked without them")
            requests = [replace(r, pictures=()) for r in requests]
        heard = self._replies(role, requests, form, temperature)
        wrong = [i for i, h in enumerate(heard) if h.status == UNPARSED]
        if wrong:
            again = [requests[i].again(heard[i].text, form.wish) for i in wrong]
            for i, h in zip(wrong, self._replies(role, again, form, temperature), strict=True):
                heard[i] = h if h.status != UNPAID else heard[i]
        for h in heard:
            if h.status != "ok":
                why = f": {h.note}" if h.note else ""
                self.note(f"a reply of the {role} is {h.status}{why}")
        return heard

    @property
    def replaying(self) -> bool:
        """Whether an answer is made again: then nothing new is written."""
        return self._recorded is not None

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def release(self) -> None:
        """From here on the calls that were kept for the answer may be used."""
        limits = self.work.budget.limits
        if self._held and limits.calls is not None:
            self.work.budget.limits = replace(limits, calls=limits.calls + self._held)
            self._held = 0

    # Evidence

    def evidence(self, seen: Sequence[Seen]) -> tuple[Evidence, ...]:
        """Spans that cite what was seen, best first; two things of one stretch are one span."""
        out: list[Evidence] = []
        for s in seen:
            p = s.picture
            start_s, end_s = s.start_s, s.end_s
            if start_s == end_s:
                start_s = max(p.scene_start_s, p.t_s - REACH_S)
                end_s = min(p.scene_end_s, p.t_s + REACH_S)
            if not any(e.video_id == p.video_id and e.start_s <= p.t_s < e.end_s for e in out):
                text = s.words.replace("\n", "; ")
                out.append(Evidence(p.video, p.video_id, start_s, end_s, text, s.key))
        return tuple(out)

    # What it has cost

    @property
    def captions_made(self) -> int:
        return len(self._made) + self._by_select[0]

    @property
    def captions_reused(self) -> int:
        return len(self._reused) + self._by_select[1]

    # Inside

    def _hold(self) -> int:
        limits = self.work.budget.limits
        if limits.calls is None or not self.cast.has("reasoner"):
            return 0
        held = min(KEPT_FOR_THE_ANSWER, limits.calls // 2)
        self.work.budget.limits = replace(limits, calls=limits.calls - held)
        return held

    def _vectors(self, *, embeds: bool = False) -> PictureVectors:
        models = self.cast.models
        if embeds:
            self.work.unmetered(models.address("embedder"))
        return PictureVectors(Similarity(self.work.catalog.snapshot, models, None))

    def _debit(self, kind: Kind) -> Callable[[], bool]:
        """Asked before each repeated request."""

        def debit() -> bool:
            self._repeats += 1
            return not self._bounded or self.work.budget.take(kind, 1) == 1

        return debit

    def _captioned(self, stretches: Sequence[Stretch], kind: str, prompt: Prompt) -> list[Seen]:
        if not stretches:
            return []
        made = StretchCaptions(
            self.work, self.cast.captioner(), kind, prompt, stretches, self._debit("captions")
        )
        made.known |= {k: (None, state) for k, state in self.keys.items() if state != KEPT}
        inputs = {"kind": kind, **_times([s.pictures[0] for s in stretches])}
        with self.trace.step("caption", inputs) as cost:
            before = self._repeats
            if self._recorded is None:
                made.make_all()
            else:
                self._all_there("caption", made.recall_recorded(self._recorded))
            keys = [made.address(i).key for i in range(len(stretches))]
            states = {k: made.known.get(k, (None, UNPAID)) for k in keys}
            self._count_captions(made.bought, states, cost)
            cost.calls += self._repeats - before
        return [
            Seen(s.pictures, s.start_s, s.end_s, states[k][0],
                 None if states[k][1] == UNPAID else k, states[k][1])
            for s, k in zip(stretches, keys, strict=True)
        ]  # fmt: skip

    def _count_captions(
        self, bought: set[str], states: Mapping[str, tuple[str | None, str]], cost: Cost
    ) -> None:
        done = {k for k, (_, state) in states.items() if state in ("ok", "empty", "refused")}
        reused = done - bought - self._made
        self._made |= bought
        self._reused |= reused
        self.keys |= {
            k: KEPT if k in done else state for k, (_, state) in states.items() if state != UNPAID
        }
        missing = sum(state == UNPAID for _, state in states.values())
        self.partial |= missing > 0
        cost.made, cost.reused, cost.calls = len(bought), len(reused), len(bought)
        cost.outputs = {"captions": len(done), "missing": missing}

    def _replies(
        self, role: str, requests: Sequence[Request], form: Form[T], temperature: float
    ) -> list[Heard[T]]:
        if not requests:
            return []
        model = self.cast.model(role)
        replies = Replies(self.work, role, model, form.schema, self._debit("chats"), temperature)
        pictures = [p for r in requests for p in r.pictures]
        inputs = {"role": role, "model": model.identity, "requests": len(requests)}
        inputs |= {"texts": [r.text for r in requests[:1]], **_times(pictures)}
        with self.trace.step("see" if pictures else "chat", inputs) as cost:
            if self._recorded is None:
                replies.make_all(requests)
            else:
                lost = replies.recall_recorded(requests, self._recorded)
                self._all_there("reply", lost)
            heard = [self._heard(replies, replies.key(r), form) for r in requests]
            cost.made, cost.calls = replies.made, replies.calls
            cost.reused = len(requests) - replies.made
            cost.outputs = {"statuses": [h.status for h in heard], "keys": [h.key for h in heard]}
        return heard

    def _heard(self, replies: Replies, key: str, form: Form[T]) -> Heard[T]:
        reply = replies.known.get(key)
        if reply is None:
            self.partial = True
            return Heard(None, UNPAID)
        self.keys[key] = KEPT if reply.status != "failed" else reply.note or "failed"
        if reply.status != "ok":
            return Heard(None, reply.status, "", key, reply.note)
        value = form.read(reply.text)
        return Heard(value, UNPARSED if value is None else "ok", reply.text, key)

    def _all_there(self, what: str, lost: Sequence[str]) -> None:
        if lost:
            raise ExecuteError(
                f"this answer cannot be replayed: the {what} {lost[0]} that it used is no longer "
                "in the ledger; ask again"
            )


def _times(pictures: Sequence[Picture]) -> dict[str, object]:
    listed = [[p.video, p.t_s] for p in pictures[:SHOWN]]
    return {"pictures": len(pictures), "at": listed}
