"""Looks of a picture tool: the rows of `ocr` and `objects`.

Grid pictures that nearly equal the last one looked at are not looked at: their run is
recorded with `same_as_ms` and they get copies of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reeldb.query.fillers.base import Work
from reeldb.query.fillers.looks import Looks, Place, Row, Seen, Spots, code, numbers_of
from reeldb.schema.digests import look_key
from reeldb.schema.models import Found, Look, PictureTool

if TYPE_CHECKING:
    from reeldb.schema.models import Image

WORD = {"ocr": "text", "objects": "label"}
BOX = ("x0", "y0", "x1", "y1")
SMALL_WAVE = 8  # looks at pictures are short beside the queries between waves
SMALL_SIDE = 320
BLOCK = 16
NEAR = 4.0  # of 255: the most that the mean of any block of a nearly equal picture may differ


class PictureLooks(Looks):
    """A place is a picture: its number is its time in milliseconds."""

    def __init__(self, work: Work, role: str) -> None:
        super().__init__(work, role, PictureTool)
        self.tool = cast(PictureTool, self.model)
        self.word = WORD[role]
        self._small: dict[int, tuple[int, NDArray[np.float32]]] = {}

    @property
    def batch_size(self) -> int:
        return self.tool.batch_size

    @property
    def wave(self) -> int:
        return max(SMALL_WAVE, self.tool.batch_size)

    def spots(self) -> Spots:
        grid = self.work.catalog.grid
        return Spots(grid.rank, grid.ms)

    def recorded(self) -> Iterable[int]:
        numbers = numbers_of(self.work.catalog.snapshot.videos["content_id"].to_pylist())
        runs = self.runs
        contents, times = runs["content_id"].to_pylist(), runs["start_ms"].to_pylist()
        for content, ms in zip(contents, times, strict=True):
            for rank in numbers.get(content, ()):
                yield code(rank, ms)

    def key(self, place: Place) -> tuple[str, str]:
        content = self.work.catalog.video(place[0]).content_id
        return look_key(content, self.role, self.model.identity, *self.span_ms(place)), content

    def span_ms(self, place: Place) -> tuple[int, int]:
        return place[1], place[1]

    def foreseen(self, spots: Spots) -> Mapping[str, pa.Array]:
        return {"t_s": pa.array(spots.number / 1000)}

    def shown(self, place: Place, row: Row) -> Row:
        return {**row, "t_s": place[1] / 1000}

    def stored_row(self, place: Place, row: Row) -> Row:
        return {**super().stored_row(place, row), "t_ms": place[1]}

    def twins(self, place: Place) -> Iterable[Place]:
        content = self.work.catalog.video(place[0]).content_id
        contents = self.work.catalog.snapshot.videos["content_id"].to_pylist()
        return ((twin, place[1]) for twin, other in enumerate(contents) if other == content)

    @property
    def stored_by_place(self) -> dict[Place, list[Row]]:
        def make() -> dict[Place, list[Row]]:
            catalog = self.work.catalog
            of = {v: i for i, v in enumerate(catalog.snapshot.videos["video_id"].to_pylist())}
            out: dict[Place, list[Row]] = {}
            said = [self.word, "confidence", *BOX]
            for row in self.stored().select(["video_id", "t_s", "line_no", *said]).to_pylist():
                place = (of[row.pop("video_id")], round(row.pop("t_s") * 1000))
                out.setdefault(place, []).append(row)
            return out

        name, tables = f"found {self.role}", ["videos", self.role, "tool_runs"]
        return self.work.catalog.kept(name, tables, self.model.identity, make)

    # Looking

    def see(self, places: Sequence[Place]) -> None:
        images = self._images(places)
        same: dict[Place, int] = {}
        real: list[Place] = []
        for place in places:
            if place in images:
                other = self._same_as(place, images[place])
                if other is None:
                    real.append(place)
                else:
                    same[place] = other
        looked = real[: self.granted(len(real))]
        shown = [images[p] for p in looked]
        looks, seconds = self.ask("pictures", len(looked), lambda tool: tool.look(shown))
        self.keep({p: self._seen(k, seconds) for p, k in zip(looked, looks, strict=True)})
        self._copy(same)

    def _seen(self, look: Look, seconds: float) -> Seen:
        return Seen(look.status, [self._row(f) for f in look.found], look.note, seconds)

    def _row(self, found: Found) -> Row:
        box = dict(zip(BOX, found.box, strict=True))
        return {self.word: found.text, "confidence": found.confidence, **box}

    def _copy(self, same: Mapping[Place, int]) -> None:
        """Gives pictures the rows of the one that they nearly equal, where that was looked at."""
        copied: dict[Place, Seen] = {}
        for place, ms in same.items():
            rows = self.found((place[0], ms))
            if rows is not None:
                copied[place] = Seen("ok" if rows else "empty", rows, same_as_ms=ms)
        self.work.count("looks_saved", len(copied))
        self.keep(copied)

    def _images(self, places: Sequence[Place]) -> dict[Place, Image]:
        out: dict[Place, Image] = {}
        for rank in dict.fromkeys(r for r, _ in places):
            times = [ms for r, ms in places if r == rank]
            video = self.work.catalog.video(rank)
            images = self.work.pictures.at(video, times, self.tool.image_size)
            for i, ms in enumerate(times):
                if images is None:
                    self.unread.add((rank, ms))
                else:
                    out[rank, ms] = images[i]
        return out

    def _same_as(self, place: Place, image: Image) -> int | None:
        """The time of the last picture looked at in this video, if this one nearly equals it."""
        rank, ms = place
        now = small(image)
        before = self._small.get(rank)
        if before is not None and before[0] < ms and nearly_equal(before[1], now):
            return before[0]
        self._small[rank] = (ms, now)
        return None


def small(image: Image) -> NDArray[np.float32]:
    """Means of blocks of a version about 320 pixels wide, a channel each."""
    step = max(1, max(image.shape[:2]) // SMALL_SIDE)
    thin = image[::step, ::step].astype(np.float32)
    rows, columns = (max(1, n // BLOCK) for n in thin.shape[:2])
    tall, wide = (min(n, BLOCK) for n in thin.shape[:2])
    blocks = thin[: rows * tall, : columns * wide].reshape(rows, tall, columns, wide, 3)
    return np.asarray(blocks.mean(axis=(1, 3)), np.float32)


def nearly_equal(a: NDArray[np.float32], b: NDArray[np.float32]) -> bool:
    return a.shape == b.shape and bool(np.abs(a - b).max() < NEAR)
