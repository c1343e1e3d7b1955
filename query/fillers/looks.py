"""Looks of a picture tool: the rows of `ocr` and `objects`, and `scenes.ocr_text`.

Grid pictures that nearly equal the last one looked at are not looked at: their run is
recorded with `same_as_ms` and they get copies of its rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reeldb.index.assemble import newest
from reeldb.index.ledger import LookRow
from reeldb.index.store import any_of
from reeldb.query.fillers.base import Batch, Keys, Work
from reeldb.schema.digests import look_key
from reeldb.schema.errors import ModelError
from reeldb.schema.models import Look, PictureTool

if TYPE_CHECKING:
    from reeldb.schema.models import Image

Place = tuple[int, int]  # (rank of the video, time in ms)
WORD = {"ocr": "text", "objects": "label"}
SMALL_SIDE = 320
BLOCK = 16
NEAR = 4.0  # of 255: the most that the mean of any block of a nearly equal picture may differ


class Looks:
    """What one tool has seen, at this snapshot and in this statement."""

    def __init__(self, work: Work, role: str) -> None:
        self.work, self.role = work, role
        tool = work.models.get(role)  # type: ignore[arg-type]
        if not isinstance(tool, PictureTool):
            raise ModelError(f"the {role} model cannot look at pictures")
        self.tool: PictureTool = tool
        self.new: dict[Place, list[dict[str, Any]]] = {}
        self.unread: set[Place] = set()
        self._small: dict[int, tuple[int, NDArray[np.float32]]] = {}

    # What is known

    @property
    def runs(self) -> pa.Table:
        """content_id and start_ms of every look of this tool and model on record."""

        def make() -> pa.Table:
            columns = ["key", "content_id", "tool", "model", "start_ms", "status", "created_at"]
            rows = newest(self.work.catalog.snapshot.rows("tool_runs", columns))
            mine = pc.and_(
                pc.equal(rows["tool"], self.role), pc.equal(rows["model"], self.tool.identity)
            )
            done = pc.is_in(rows["status"], value_set=pa.array(["ok", "empty"]))
            return rows.filter(pc.and_(mine, done)).select(["content_id", "start_ms"])

        name = f"looks {self.role}"
        return self.work.catalog.kept(name, ["tool_runs"], self.tool.identity, make)

    def codes(self) -> NDArray[np.int64]:
        """One number a look on record: the video's rank and the time."""
        contents = self.work.catalog.snapshot.videos["content_id"].to_pylist()
        numbers: dict[str, list[int]] = {}
        for rank, content in enumerate(contents):
            numbers.setdefault(content, []).append(rank)
        runs = self.runs
        out = [
            code(rank, ms)
            for content, ms in zip(
                runs["content_id"].to_pylist(), runs["start_ms"].to_pylist(), strict=True
            )
            for rank in numbers.get(content, ())
        ]
        return np.array(out, np.int64)

    def done(self) -> set[int]:
        """The codes of all looks on record or taken in this statement."""
        kept = self.work.catalog.kept(
            f"look codes {self.role}", ["videos", "tool_runs"], self.tool.identity,
            lambda: set(self.codes().tolist()),
        )  # fmt: skip
        return kept | {code(*p) for p in self.new} | {code(*p) for p in self.unread}

    def stored(self) -> pa.Table:
        """The relation's stored rows of this model."""
        rows = self.work.catalog.snapshot.relation(self.role)
        return rows.filter(pc.equal(rows["model"], self.tool.identity))

    def table(self) -> pa.Table:
        """The relation with a row for every look not yet taken: `__e` is FALSE there."""
        rows = self.stored()
        fresh = self._fresh(rows.schema)
        there = pa.concat_tables([rows, fresh]) if fresh.num_rows else rows
        missing = self._missing(rows.schema)
        table = pa.concat_tables([there, missing])
        exists = np.arange(table.num_rows) < there.num_rows
        key = np.arange(table.num_rows, dtype=np.int64)
        table = table.append_column("__k", pa.array(key))
        return table.append_column("__e", pa.array(exists))

    def _fresh(self, schema: pa.Schema) -> pa.Table:
        rows = []
        for (rank, ms), found in self.new.items():
            video = self.work.catalog.video(rank)
            for f in found:
                rows.append({**f, "video": video.name, "video_id": video.video_id,
                             "t_s": ms / 1000})  # fmt: skip
        return pa.Table.from_pylist(
            [{k: r.get(k) for k in schema.names} for r in rows], schema=schema
        )

    def _missing(self, schema: pa.Schema) -> pa.Table:
        rank, ms = self.missing()
        videos = self.work.catalog.snapshot.videos
        at = pa.array(rank)
        columns: dict[str, pa.Array] = {
            "video": videos["name"].take(at).combine_chunks(),
            "video_id": videos["video_id"].take(at).combine_chunks(),
            "t_s": pa.array(ms / 1000),
        }
        for field in schema:
            columns.setdefault(field.name, pa.nulls(len(rank), field.type))
        return pa.table([columns[n] for n in schema.names], schema=schema)

    def missing(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rank and time of the grid pictures that nobody has looked at."""
        grid = self.work.catalog.grid
        done = np.fromiter(self.done(), np.int64)
        open_ = ~np.isin(code(grid.rank, grid.ms), done)
        return grid.rank[open_], grid.ms[open_]

    def found(self, rank: int, ms: int) -> list[dict[str, Any]] | None:
        """What was found in a picture; None where nobody has looked."""
        if (rank, ms) in self.new:
            return self.new[rank, ms]
        if code(rank, ms) not in self.done() or (rank, ms) in self.unread:
            return None
        return self.stored_by_place.get((rank, ms), [])

    @property
    def stored_by_place(self) -> dict[Place, list[dict[str, Any]]]:
        def make() -> dict[Place, list[dict[str, Any]]]:
            catalog, word = self.work.catalog, WORD[self.role]
            of = {v: i for i, v in enumerate(catalog.snapshot.videos["video_id"].to_pylist())}
            out: dict[Place, list[dict[str, Any]]] = {}
            for row in self.stored().select(["video_id", "t_s", "line_no", word]).to_pylist():
                place = (of[row["video_id"]], round(row["t_s"] * 1000))
                out.setdefault(place, []).append(row)
            return out

        name = f"found {self.role}"
        tables = ["videos", self.role, "tool_runs"]
        return self.work.catalog.kept(name, tables, self.tool.identity, make)

    # Looking

    def look(self, places: Iterable[Place]) -> bool:
        """Looks at these pictures, in the order given, as far as the budget goes.

        False where it did not go all the way.
        """
        done = self.done()
        wanted = [p for p in dict.fromkeys(places) if code(*p) not in done]
        size = max(1, self.tool.batch_size)
        parts = (wanted[i : i + size] for i in range(0, len(wanted), size))
        return all(self._batch(part) for part in parts)

    def _batch(self, places: Sequence[Place]) -> bool:
        """Looks at a few pictures, each once among all threads and processes."""

        def learn(rows: Sequence[int], since: datetime | None) -> list[int]:
            return self._learn_kept(places, rows, since)

        def compute(rows: Sequence[int]) -> None:
            self._look_at([places[i] for i in rows if not self._is_done(places[i])])

        self.work.once(range(len(places)), lambda i: self._key(places[i])[0], learn, compute)
        return all(self._is_done(p) for p in places)

    def _is_done(self, place: Place) -> bool:
        return place in self.new or place in self.unread

    def _learn_kept(
        self, places: Sequence[Place], rows: Sequence[int], since: datetime | None
    ) -> list[int]:
        """Learns what others have looked at meanwhile; gives what nobody has."""
        asked = [i for i in rows if not self._is_done(places[i])]
        keys = {i: self._key(places[i])[0] for i in asked}
        runs = self.work.ledger.looks(keys.values(), failed=since is not None)
        found = self._found_of([k for k, r in runs.items() if r.found])
        unknown = []
        for i, key in keys.items():
            run = runs.get(key)
            if run is None or (run.status == "failed" and since and run.created_at < since):
                unknown.append(i)
            elif run.status in ("ok", "empty"):
                self._learn(places[i], found.get(key, []))
            else:
                self.unread.add(places[i])
        return unknown

    def _found_of(self, keys: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        out: dict[str, list[dict[str, Any]]] = {}
        if keys:
            store = self.work.ledger.archive.store
            rows = store.read(self.role, where=any_of("key", keys)).to_pylist()
            for row in sorted(rows, key=lambda r: int(r["line_no"])):
                out.setdefault(row["key"], []).append({k: row[k] for k in _FOUND if k in row})
        return out

    def _look_at(self, todo: Sequence[Place]) -> None:
        images = self._images(todo)
        same: dict[Place, int] = {}
        real: list[Place] = []
        for place in todo:
            if place in images:
                other = self._same_as(place, images[place])
                if other is None:
                    real.append(place)
                else:
                    same[place] = other
        granted = self.work.budget.take("looks", len(real))
        looked = real[:granted]
        looks, seconds = self._call([images[p] for p in looked])
        self._keep(looked, looks, seconds)
        self._copy({p: ms for p, ms in same.items() if self.found(p[0], ms) is not None})

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

    def _call(self, images: Sequence[Image]) -> tuple[list[Look], float]:
        if not images:
            return [], 0.0
        started = time.monotonic()
        looks = self.tool.look(images)
        seconds = time.monotonic() - started
        if len(looks) != len(images):
            raise ModelError(
                f"{self.tool.address} gave {len(looks)} looks for {len(images)} pictures"
            )
        self.work.paid(self.tool.address, seconds, 0)
        self.work.count("looks_made", len(looks))
        return looks, seconds / len(images)

    def _keep(self, places: Sequence[Place], looks: Sequence[Look], seconds: float) -> None:
        runs: list[LookRow] = []
        found: list[dict[str, Any]] = []
        for place, look in zip(places, looks, strict=True):
            if look.status in ("failed", "refused"):
                self.unread.add(place)
                self.work.note(f"{self.role} {look.status} on some pictures: {look.note}")
            rows = [self._row(i, f) for i, f in enumerate(look.found)]
            runs.append(self._run(place, look.status, len(rows), None, look.note, seconds))
            found += self._stored_rows(place, rows)
            if place not in self.unread:
                self._learn(place, rows)
        self._write(runs, found)

    def _copy(self, same: dict[Place, int]) -> None:
        runs: list[LookRow] = []
        found: list[dict[str, Any]] = []
        for place, ms in same.items():
            rows = self.found(place[0], ms)
            if rows is None:
                continue
            rows = [{k: v for k, v in r.items() if k in _FOUND} for r in rows]
            status = "ok" if rows else "empty"
            runs.append(self._run(place, status, len(rows), ms, "", 0.0))
            found += self._stored_rows(place, rows)
            self._learn(place, rows)
        self.work.count("looks_saved", len(runs))
        self._write(runs, found)

    def _learn(self, place: Place, rows: list[dict[str, Any]]) -> None:
        """What is seen in one file is seen in every copy of it."""
        rank, ms = place
        content = self.work.catalog.video(rank).content_id
        contents = self.work.catalog.snapshot.videos["content_id"].to_pylist()
        for twin, other in enumerate(contents):
            if other == content:
                self.new[twin, ms] = rows

    def _row(self, line_no: int, f: Any) -> dict[str, Any]:
        x0, y0, x1, y1 = f.box
        return {
            "line_no": line_no, WORD[self.role]: f.text, "confidence": f.confidence,
            "x0": x0, "y0": y0, "x1": x1, "y1": y1, "model": self.tool.identity,
        }  # fmt: skip

    def _key(self, place: Place) -> tuple[str, str]:
        content = self.work.catalog.video(place[0]).content_id
        return look_key(content, self.role, self.tool.identity, place[1], place[1]), content

    def _stored_rows(self, place: Place, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        key, content = self._key(place)
        return [{**r, "key": key, "content_id": content, "t_ms": place[1]} for r in rows]

    def _run(
        self, place: Place, status: Any, found: int, same: int | None, note: str, seconds: float
    ) -> LookRow:
        key, content = self._key(place)
        return LookRow(
            key=key, content_id=content, tool=self.role, model=self.tool.identity,
            start_ms=place[1], end_ms=place[1], status=status, found=found, same_as_ms=same,
            note=note or None, seconds=seconds,
        )  # fmt: skip

    def _write(self, runs: Sequence[LookRow], found: Sequence[dict[str, Any]]) -> None:
        if runs:
            self.work.keep(lambda: self.work.ledger.put_looks(runs, {self.role: found}))


_FOUND = {"line_no", "text", "label", "confidence", "x0", "y0", "x1", "y1", "model"}


class OcrText:
    """`scenes.ocr_text`: the distinct texts of a scene's grid pictures in time order."""

    size = 8

    def __init__(self, work: Work, looks: Looks | None) -> None:
        self.work, self.looks = work, looks

    def _places(self, row: int) -> list[Place]:
        catalog = self.work.catalog
        rank = int(catalog.snapshot.ranks("scenes")[row])
        return [(rank, ms) for ms in catalog.scene_times_ms(row, None)]

    def unseen(self, keys: Sequence[int]) -> list[int]:
        """The codes of the pictures of these scenes that nobody has looked at."""
        if self.looks is None:
            return []
        places = dict.fromkeys(p for k in keys for p in self._places(k))
        return [code(*p) for p in places if self.looks.found(*p) is None]

    def recall(self, keys: Keys) -> Batch:
        out = Batch()
        if self.looks is None:
            return out
        for key in map(int, keys):
            seen = [self.looks.found(*p) for p in self._places(key)]
            read = [s for s in seen if s is not None]
            unread = any(p in self.looks.unread for p in self._places(key))
            if len(read) == len(seen):
                texts = dict.fromkeys(r["text"] for s in read for r in s)
                out.add(key, "\n".join(texts), "ok" if texts else "empty")
            elif unread:
                out.add(key, None, "unread")
        return out

    def make(self, keys: Sequence[int]) -> Batch:
        if self.looks is None or "ocr" not in self.work.lazy:
            return Batch()
        for key in keys:
            if not self.looks.look(self._places(key)):
                break
        return self.recall(keys)


class LookRows:
    """The rows of a lazy relation: a key is a row that stands for a look not yet taken."""

    def __init__(self, work: Work, looks: Looks) -> None:
        self.work, self.looks = work, looks
        self.size = max(8, looks.tool.batch_size)
        self.first_missing = 0
        self.missing = looks.missing()

    def table(self) -> pa.Table:
        table = self.looks.table()
        self.missing = self.looks.missing()
        self.first_missing = table.num_rows - len(self.missing[0])
        return table

    def recall(self, keys: Keys) -> Batch:
        return Batch()

    def make(self, keys: Sequence[int]) -> Batch:
        rank, ms = self.missing
        places = [
            (int(rank[k - self.first_missing]), int(ms[k - self.first_missing])) for k in keys
        ]
        self.looks.look(places)
        done = [
            k for k, p in zip(keys, places, strict=True)
            if p in self.looks.new or p in self.looks.unread
        ]  # fmt: skip
        return Batch(done, [True] * len(done), ["ok"] * len(done))


def code(rank: Any, ms: Any) -> Any:
    """One number for a picture: works on integers and on arrays of them."""
    return rank * (1 << 40) + ms


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
