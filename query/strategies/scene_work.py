"""The captioning of `mapreduce`: scenes, their captions, and who recurs in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from reeldb.index.entities import put_entities
from reeldb.index.ledger import CaptionRow
from reeldb.query.named import named
from reeldb.query.operators.grid import Grid
from reeldb.query.operators.replies import Form, Heard, Request
from reeldb.query.prompts import SCENE, Prompt
from reeldb.query.prompts import mapping as say
from reeldb.query.prompts.asking import quoted
from reeldb.query.strategies import map_forms as forms
from reeldb.query.strategies.characters import Comparison, Entity, Pairs, folded, new_names
from reeldb.query.task import Stretch

if TYPE_CHECKING:
    from reeldb.query.catalog import Catalog
    from reeldb.query.strategies.mapreduce import MapReduce
    from reeldb.query.task import Picture, Task

SEEING = "interpreter"
MOST = 32  # pictures in any call
T = TypeVar("T")
MEMORY = 8  # of these, for the memory of characters


@dataclass(frozen=True, slots=True)
class Scene:
    """A scene in the scope: pictures in time order, its caption, and the stretch (of memory) and
    window it lies in. `text` is '' where there is no caption."""

    rank: int
    start_s: float
    end_s: float
    pictures: tuple[Picture, ...]
    stretch: int = 0
    window: int = 0
    text: str = ""
    key: str | None = None

    @property
    def middle(self) -> Picture:
        return self.pictures[len(self.pictures) // 2]


def detected(catalog: Catalog, grid: Grid) -> list[Scene]:
    """The scene rows that have a picture in the scope, with the pictures of `scenes.caption`; a
    scene between them that is too short for the grid has its key picture."""
    scoped = set(
        zip(grid.rank.tolist(), np.rint(grid.t_s * 1000).astype(int).tolist(), strict=True)
    )
    frames = _frame_rows(catalog)
    ranks = catalog.snapshot.ranks("scenes")
    out: list[Scene] = []
    for first, last in grid.videos():
        rank, lowest, highest = int(grid.rank[first]), grid[first], grid[last - 1]
        for row in np.flatnonzero(ranks == rank).tolist():
            start_s, end_s = catalog.span("scenes", row)
            if start_s < lowest.scene_start_s or end_s > highest.scene_end_s:
                continue
            every = catalog.scene_times_ms(row, None)
            on_grid = catalog.grid.first[row] < catalog.grid.last[row]
            if on_grid and not any((rank, ms) in scoped for ms in every):
                continue
            rows = [frames[rank, ms] for ms in catalog.scene_times_ms(row) if (rank, ms) in frames]
            if rows:
                pictures = tuple(Grid(catalog, np.array(rows, np.int64)))
                out.append(Scene(rank, start_s, end_s, pictures))
    return out


def _frame_rows(catalog: Catalog) -> dict[tuple[int, int], int]:
    def make() -> dict[tuple[int, int], int]:
        ms = np.rint(catalog.frames["t_s"].to_numpy() * 1000).astype(np.int64)
        pairs = zip(catalog.snapshot.ranks("frames").tolist(), ms.tolist(), strict=True)
        return {pair: row for row, pair in enumerate(pairs)}

    return catalog.kept("frame rows", ["videos", "frames"], None, make)


class SceneWork:
    """The captioning of one question: `scenes` in (video, time) order once `caption` has run."""

    def __init__(self, task: Task, how: MapReduce) -> None:
        self.task, self.how = task, how
        self.sees = task.cast.has(SEEING) and task.cast.sees(SEEING)
        self.scenes: list[Scene] = []
        self.names: dict[tuple[int, str], str] = {}  # by (stretch, local name)
        self.entities: list[Entity] = []

    def caption(self, grid: Grid) -> None:
        """Finds scenes, who is in them, and what happens (map), then one name each (reduce)."""
        model = self.how.scenes == "model" and self.sees
        if self.how.scenes == "model" and not self.sees:
            self.task.note("scenes => 'model' needs a vision model: detected scenes were used")
        found = self._split(grid) if model else detected(self.task.work.catalog, grid)
        self.scenes = self._stretched(found)
        local = self._salient() if self.how.characters and self.sees else {}
        self.scenes = self._dense(local) if model else self._clips()
        if local:
            self._reduce(local)

    def text(self, scene: Scene) -> str:
        """The caption with the names of entities."""
        names = {local: n for (stretch, local), n in self.names.items() if stretch == scene.stretch}
        return named(scene.text, names)

    # Scenes

    def _split(self, grid: Grid) -> list[Scene]:
        """Windows of ten seconds, split and joined as the vision model says."""
        windows = [
            tuple(p)
            for _, p in groupby(grid, lambda p: (p.rank, int(p.t_s // self.how.window_seconds)))
        ]
        shown = [_spread(w, MOST) for w in windows]
        splits = self._each(say.SPLIT, say.SPLIT_FORM, shown, forms.split_form)
        joints = [
            (windows[i - 1][-1], w[0])
            for i, w in enumerate(windows)
            if i and windows[i - 1][0].rank == w[0].rank
        ]
        heard = self._ask(
            [Request(f"{say.SAME_SCENE.text}\n{say.SAME_SCENE_FORM}", j) for j in joints],
            forms.same_scene_form(),
        )
        meets = {(a.row, b.row): h.value is True for (a, b), h in zip(joints, heard, strict=True)}
        return _scenes(windows, shown, [h.value or () for h in splits], meets)

    def _each(
        self,
        prompt: Prompt,
        wish: str,
        shown: Sequence[tuple[Picture, ...]],
        form: Callable[[int], Form[T]],
    ) -> list[Heard[T]]:
        """One request for each group of pictures, those of one size together, in order."""
        out: dict[int, Heard[T]] = {}
        for size in sorted({len(s) for s in shown}):
            places = [i for i, s in enumerate(shown) if len(s) == size]
            requests = [Request(f"{prompt.text}\n{wish}", shown[i]) for i in places]
            out |= dict(zip(places, self._ask(requests, form(size)), strict=True))
        return [out[i] for i in range(len(shown))]

    def _ask(self, requests: Sequence[Request], form: Form[T]) -> list[Heard[T]]:
        return self.task.ask(SEEING, requests, form)

    def _stretched(self, scenes: Sequence[Scene]) -> list[Scene]:
        """Each scene with the number of the stretch that its middle lies in."""
        numbers: dict[tuple[int, int], int] = {}
        out = []
        for s in scenes:
            place = (s.rank, int((s.start_s + s.end_s) / 2 // self.how.memory_seconds))
            out.append(replace(s, stretch=numbers.setdefault(place, len(numbers))))
        return out

    # Captions

    def _clips(self) -> list[Scene]:
        """`scenes.caption`, those likeliest to matter first, so that a budget goes to them."""
        stretches = [Stretch(s.pictures, s.start_s, s.end_s) for s in self.scenes]
        order = self._by_relevance()
        seen = dict(
            zip(order, self.task.describe([stretches[i] for i in order], SCENE), strict=True)
        )
        return [
            replace(s, text=seen[i].caption or "", key=seen[i].key)
            for i, s in enumerate(self.scenes)
        ]

    def _by_relevance(self) -> list[int]:
        places = list(range(len(self.scenes)))
        if not self.task.has_vectors() or not places:
            return places
        cosines = self.task.cosines([self.task.question], [s.middle for s in self.scenes])[0]
        return [int(i) for i in np.argsort(-np.nan_to_num(cosines, nan=-1.0), kind="stable")]

    def _dense(self, local: dict[int, list[Entity]]) -> list[Scene]:
        """Dense captions; one waits only for that of the scene before in the same window."""
        out = list(self.scenes)
        nth: dict[int, list[int]] = {}
        for _, places in groupby(range(len(out)), lambda i: (out[i].rank, out[i].window)):
            for n, place in enumerate(places):
                nth.setdefault(n, []).append(place)
        for n in sorted(nth):
            requests = [self._dense_request(out, i, local, n) for i in nth[n]]
            heard = self._ask(requests, forms.dense_form())
            for i, h in zip(nth[n], heard, strict=True):
                out[i] = replace(out[i], text=_worded(h), key=h.key or None)
            self._keep([(out[i], h) for i, h in zip(nth[n], heard, strict=True)])
        return out

    def _dense_request(
        self, scenes: Sequence[Scene], place: int, local: dict[int, list[Entity]], nth: int
    ) -> Request:
        scene, before = scenes[place], scenes[place - 1].text if nth else ""
        memory = local.get(scene.stretch, [])[:MEMORY]
        lines = [f"[{i}] {e.members[0][1]}: {e.description}" for i, e in enumerate(memory, 1)]
        pictures = (*(e.best for e in memory), *_spread(scene.pictures, MOST - len(memory)))
        text = [say.DENSE.text, quoted("memory", "\n".join(lines) or "nothing yet")]
        if before:
            text.append(quoted("before", before))
        return Request("\n".join([*text, say.DENSE_FORM]), pictures)

    def _keep(self, found: Sequence[tuple[Scene, Heard[forms.Dense]]]) -> None:
        """Dense captions stand in `captions` too, as they were written."""
        if self.task.replaying:
            return
        model = self.task.cast.model(SEEING).identity
        rows = [
            CaptionRow(
                key=h.key, content_id=self.task.work.catalog.video(s.rank).content_id,
                kind="dense", start_s=s.start_s, end_s=s.end_s,
                times_ms=[p.t_ms for p in s.pictures], text=s.text, model=model,
                prompt_id=say.DENSE.id, status="ok",
                fields=json.dumps({"brief": h.value.brief, "appeared": list(h.value.appeared),
                                   "detailed": h.value.detailed}),
            )
            for s, h in found
            if h.value is not None and h.key
        ]  # fmt: skip
        if rows:
            self.task.work.keep(lambda: self.task.work.ledger.put_captions(rows))

    # Characters

    def _salient(self) -> dict[int, list[Entity]]:
        """Who and what stands out in each stretch, from sparse pictures of it."""
        stretches = [
            tuple(p for s in scenes for p in s.pictures)
            for _, scenes in groupby(self.scenes, lambda s: s.stretch)
        ]
        shown = [_spread(p, MOST) for p in stretches]
        heard = self._each(say.SALIENT, say.SALIENT_FORM, shown, forms.salient_form)
        return {
            n: [Entity(c.description, pictures[c.picture], ((n, c.name),)) for c in h.value or ()]
            for n, (h, pictures) in enumerate(zip(heard, shown, strict=True))
        }

    def _reduce(self, local: dict[int, list[Entity]]) -> None:
        """Merges repeated characters video by video, names them anew and keeps the overlay."""
        of = {s.stretch: s.rank for s in self.scenes}
        for rank in dict.fromkeys(of.values()):
            mine = [local[n] for n, r in of.items() if r == rank]
            entities = folded(mine, self._compare)
            names = new_names(entities)
            for entity, name in zip(entities, names, strict=True):
                self.names |= dict.fromkeys(entity.members, name)
            self.entities += entities
            if entities and not self.task.replaying:
                self._put(rank, entities, names)

    def _compare(self, wanted: Sequence[Comparison]) -> list[Pairs]:
        out: dict[int, Pairs] = {}
        sizes = [(len(c.first), len(c.second)) for c in wanted]
        for size in sorted(set(sizes)):
            places = [i for i, s in enumerate(sizes) if s == size]
            requests = [self._comparing(wanted[i]) for i in places]
            heard = self._ask(requests, forms.same_form(*size))
            out |= {i: h.value or () for i, h in zip(places, heard, strict=True)}
        return [out[i] for i in range(len(wanted))]

    def _comparing(self, wanted: Comparison) -> Request:
        every = (*wanted.first, *wanted.second)
        lines = [f"[{i}] {e.members[0][1]}: {e.description}" for i, e in enumerate(every, 1)]
        n = len(wanted.first)
        text = [
            say.SAME.text, quoted("set_1", "\n".join(lines[:n])),
            quoted("set_2", "\n".join(lines[n:])), say.SAME_FORM,
        ]  # fmt: skip
        return Request("\n".join(text), wanted.pictures)

    def _put(self, rank: int, entities: Sequence[Entity], names: Sequence[str]) -> None:
        spans = {
            n: (min(s.start_s for s in g), max(s.end_s for s in g))
            for n in {s.stretch for s in self.scenes if s.rank == rank}
            for g in [[s for s in self.scenes if s.stretch == n]]
        }
        first = min(spans)
        rows = [
            {"entity_id": name, "name": name, "description": e.description, "best_s": e.best.t_s}
            for e, name in zip(entities, names, strict=True)
        ]
        mentions = [
            {
                "entity_id": name, "segment": stretch - first, "local_name": local,
                "start_s": spans[stretch][0], "end_s": spans[stretch][1],
            }
            for e, name in zip(entities, names, strict=True)
            for stretch, local in e.members
        ]  # fmt: skip
        work, video_id = self.task.work, self.task.work.catalog.video(rank).video_id
        work.keep(lambda: put_entities(work.ledger.archive, video_id, rows, mentions))


def _worded(heard: Heard[forms.Dense]) -> str:
    return heard.value.detailed if heard.value else ""


def _spread(pictures: Sequence[Picture], most: int) -> tuple[Picture, ...]:
    n, m = len(pictures), min(most, len(pictures))
    return tuple(pictures[(2 * i + 1) * n // (2 * m)] for i in range(m))


def _scenes(
    windows: Sequence[tuple[Picture, ...]],
    shown: Sequence[tuple[Picture, ...]],
    splits: Sequence[Sequence[int]],
    meets: dict[tuple[int, int], bool],
) -> list[Scene]:
    """Scenes out of windows: cut where the model said, joined where the first of one goes on
    from the last of the one before."""
    groups: list[tuple[int, list[Picture]]] = []
    for n, (window, pictures, starts) in enumerate(zip(windows, shown, splits, strict=True)):
        cuts = {pictures[i].row for i in starts}
        for i, p in enumerate(window):
            joins = i == 0 and n > 0 and meets.get((windows[n - 1][-1].row, p.row), False)
            if joins or (i and p.row not in cuts):
                groups[-1][1].append(p)
            else:
                groups.append((n, [p]))
    out = []
    for k, (n, group) in enumerate(groups):
        after = groups[k + 1][1][0] if k + 1 < len(groups) else None
        end_s = group[-1].scene_end_s if after is None or after.rank != group[0].rank else after.t_s
        end_s = max(end_s, group[-1].t_s + 0.001)
        out.append(Scene(group[0].rank, group[0].t_s, end_s, tuple(group), window=n))
    return out


__all__ = ["MOST", "SEEING", "Scene", "SceneWork", "detected"]
