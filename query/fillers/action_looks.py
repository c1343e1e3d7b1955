"""Looks of an action recogniser: the rows of `actions`, one look a scene."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from reeldb.query.fillers.base import Work
from reeldb.query.fillers.looks import Looks, Place, Row, Seen, Spots, code
from reeldb.schema.digests import clip_look_key
from reeldb.schema.models import ActionTool, Recognition

if TYPE_CHECKING:
    from reeldb.schema.models import Image


@dataclass(frozen=True, slots=True)
class _Scenes:
    """Every scene by its row in `scenes`, the keys of their looks, and which share one."""

    spots: Spots
    keys: tuple[str, ...]
    rows_of: Mapping[str, Sequence[int]]


class ActionLooks(Looks):
    """A place is a scene: its number is its row in `scenes`.

    The tool sees pictures of the scene at nominal times, in the middles of as many parts of
    equal length as it wants pictures; these times are in the look's address.
    """

    cuts = frozenset({"scenes"})

    def __init__(self, work: Work) -> None:
        super().__init__(work, "actions", ActionTool)
        self.tool = cast(ActionTool, self.model)

    @property
    def batch_size(self) -> int:
        return self.tool.batch_size

    @property
    def _scenes(self) -> _Scenes:
        def make() -> _Scenes:
            catalog = self.work.catalog
            rank = catalog.snapshot.ranks("scenes")
            keys = tuple(self._key_of(int(r), row) for row, r in enumerate(rank))
            rows_of: dict[str, list[int]] = {}
            for row, key in enumerate(keys):
                rows_of.setdefault(key, []).append(row)
            return _Scenes(Spots(rank, np.arange(len(rank), dtype=np.int64)), keys, rows_of)

        extra = (self.model.identity, self.tool.picture_count)
        return self.work.catalog.kept("action scenes", ["videos", "scenes"], extra, make)

    def _key_of(self, rank: int, row: int) -> str:
        content = self.work.catalog.video(rank).content_id
        return clip_look_key(content, self.role, self.model.identity, self._times_ms(row))

    def _times_ms(self, row: int) -> list[int]:
        start_s, end_s = self.work.catalog.span("scenes", row)
        parts = 2 * self.tool.picture_count
        return [
            round(1000 * (start_s + (2 * i + 1) * (end_s - start_s) / parts))
            for i in range(self.tool.picture_count)
        ]

    def spots(self) -> Spots:
        return self._scenes.spots

    def recorded(self) -> Iterable[int]:
        scenes = self._scenes
        rank = scenes.spots.rank
        for key in self.runs["key"].to_pylist():
            for row in scenes.rows_of.get(key, ()):
                yield code(int(rank[row]), row)

    def key(self, place: Place) -> tuple[str, str]:
        return self._scenes.keys[place[1]], self.work.catalog.video(place[0]).content_id

    def span_ms(self, place: Place) -> tuple[int, int]:
        start_s, end_s = self.work.catalog.span("scenes", place[1])
        return round(start_s * 1000), round(end_s * 1000)

    def foreseen(self, spots: Spots) -> Mapping[str, pa.Array]:
        scenes, at = self.work.catalog.scenes, pa.array(spots.number)
        return {n: scenes[n].take(at).combine_chunks() for n in ("start_s", "end_s")}

    def shown(self, place: Place, row: Row) -> Row:
        start_s, end_s = self.work.catalog.span("scenes", place[1])
        return {**row, "start_s": start_s, "end_s": end_s}

    def stored_row(self, place: Place, row: Row) -> Row:
        return super().stored_row(place, self.shown(place, row))

    def twins(self, place: Place) -> Iterable[Place]:
        scenes = self._scenes
        rows = scenes.rows_of[scenes.keys[place[1]]]
        return ((int(scenes.spots.rank[row]), row) for row in rows)

    # Looking

    def see(self, places: Sequence[Place]) -> None:
        stretches = self._stretches(places)
        looked = list(stretches)[: self.granted(len(stretches))]
        shown = [stretches[p] for p in looked]
        found, seconds = self.ask("scenes", len(looked), lambda tool: tool.recognise(shown))
        self.keep({p: _seen(r, seconds) for p, r in zip(looked, found, strict=True)})

    def _stretches(self, places: Sequence[Place]) -> dict[Place, list[Image]]:
        out: dict[Place, list[Image]] = {}
        for place in places:
            video = self.work.catalog.video(place[0])
            times_ms = self._times_ms(place[1])
            images = self.work.pictures.at(video, times_ms, self.tool.image_size)
            if images is None:
                self.unread.add(place)
            else:
                out[place] = images
        return out


def _seen(found: Recognition, seconds: float) -> Seen:
    rows = [{"label": a.label, "confidence": a.confidence} for a in found.actions]
    return Seen(found.status, rows, found.note, seconds)
