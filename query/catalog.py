"""The archive as the planner and the fills see it: relations, pictures of rows, and files.

Everything here is of one snapshot. What takes work to build is kept on the archive for the
versions it was built from.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reeldb.index.snapshot import Snapshot
from reeldb.schema.relations import RELATIONS

T = TypeVar("T")
Ints = NDArray[np.int64]
CLIP_PICTURES = 4


@dataclass(frozen=True, slots=True)
class Video:
    """What a fill needs to know of a video."""

    rank: int
    video_id: str
    name: str
    path: str
    content_id: str
    duration_s: float
    sound_id: str | None
    sound_start_s: float  # of the first sound, on the video's clock


@dataclass(frozen=True, slots=True)
class ScenePictures:
    """The grid pictures of all videos, and which of them lie in each scene.

    Scene row i has the pictures `first[i] : last[i]` of `rank`, `ms`.
    """

    rank: Ints
    ms: Ints
    frame_row: Ints
    first: Ints
    last: Ints


class Catalog:
    """One snapshot, read for a statement."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._videos: dict[int, Video] = {}

    def kept(self, name: str, tables: Sequence[str], extra: Hashable, make: Callable[[], T]) -> T:
        """`make()`, kept on the archive until one of the tables changes."""
        versions = tuple((t, self.snapshot.versions.get(t)) for t in tables)
        return self.snapshot.archive.remember(name, (versions, extra), make)

    def table(self, relation: str) -> pa.Table:
        """The stored rows of a relation with their key, `__k`: their number in key order."""
        rows = self.snapshot.relation(relation)
        key = pa.array(np.arange(rows.num_rows, dtype=np.int64))
        return rows.append_column("__k", key)

    def video(self, rank: int) -> Video:
        if rank not in self._videos:
            row = self.snapshot.videos.slice(rank, 1).to_pylist()[0]
            self._videos[rank] = Video(
                rank, row["video_id"], row["name"], row["path"], row["content_id"],
                row["duration_s"] or 0.0, row["sound_id"], row["sound_start_s"] or 0.0,
            )  # fmt: skip
        return self._videos[rank]

    @property
    def grid(self) -> ScenePictures:
        return self.kept("grid", ["videos", "scenes", "frames"], None, self._grid)

    def _grid(self) -> ScenePictures:
        frames, scenes = self.snapshot.relation("frames"), self.snapshot.relation("scenes")
        on_grid = frames["on_grid"].to_numpy().astype(np.bool_)
        rows = np.flatnonzero(on_grid)
        rank = self.snapshot.ranks("frames")[rows]
        ms = np.rint(frames["t_s"].to_numpy()[rows] * 1000).astype(np.int64)
        number = frames["scene_no"].to_numpy()[rows].astype(np.int64)
        place = rank * (1 << 32) + number
        wanted = self.snapshot.ranks("scenes") * (1 << 32) + scenes["scene_no"].to_numpy()
        first = np.searchsorted(place, wanted, "left")
        last = np.searchsorted(place, wanted, "right")
        return ScenePictures(rank, ms, rows, first.astype(np.int64), last.astype(np.int64))

    def scene_times_ms(self, row: int, most: int | None = CLIP_PICTURES) -> list[int]:
        """The grid pictures of a scene, at most `most` evenly chosen; else its key picture."""
        grid = self.grid
        first, last = int(grid.first[row]), int(grid.last[row])
        n = last - first
        if n == 0:
            return [round(self.scenes["key_s"][row].as_py() * 1000)]
        m = n if most is None else min(most, n)
        return [int(grid.ms[first + (2 * i + 1) * n // (2 * m)]) for i in range(m)]

    def unlooked(self, tool: str) -> int:
        """How many grid pictures no model of a tool has looked at, as far as is on record."""

        def make() -> int:
            runs = self.snapshot.rows("tool_runs", ["content_id", "tool", "start_ms", "status"])
            mine = pc.and_(
                pc.equal(runs["tool"], tool),
                pc.is_in(runs["status"], value_set=pa.array(["ok", "empty"])),
            )
            runs = runs.filter(mine)
            pairs = zip(runs["content_id"].to_pylist(), runs["start_ms"].to_pylist(), strict=True)
            done, grid = set(pairs), self.grid
            contents = self.snapshot.videos["content_id"].to_pylist()
            places = zip(grid.rank.tolist(), grid.ms.tolist(), strict=True)
            return sum((contents[rank], ms) not in done for rank, ms in places)

        tables = ["videos", "scenes", "frames", "tool_runs"]
        return self.kept(f"unlooked {tool}", tables, None, make)

    @property
    def scenes(self) -> pa.Table:
        return self.snapshot.relation("scenes")

    @property
    def frames(self) -> pa.Table:
        return self.snapshot.relation("frames")

    def picture_ms(self, relation: str, row: int) -> int:
        """The time of the picture of a frame, or of the one that stands for a scene."""
        table, column = (self.frames, "t_s") if relation == "frames" else (self.scenes, "key_s")
        ms: int = round(table[column][row].as_py() * 1000)
        return ms

    def span(self, relation: str, row: int) -> tuple[float, float]:
        if relation == "scenes":
            return self.scenes["start_s"][row].as_py(), self.scenes["end_s"][row].as_py()
        t_s = self.frames["t_s"][row].as_py()
        return t_s, t_s


def relation_order(name: str) -> list[str]:
    """The columns of a relation's key order."""
    relation = RELATIONS[name]
    known = relation.by_name
    return [c for c in ("video", "video_id", *relation.order) if c in known]
