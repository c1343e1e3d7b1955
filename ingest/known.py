"""What the archive already knows about a file: by its bytes, its path, its content."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from reeldb.index.archive import Archive
from reeldb.index.commit import Writer
from reeldb.index.snapshot import Snapshot
from reeldb.index.store import any_of
from reeldb.media.identity import Packets, same_timing, timed_content_id, timing_times
from reeldb.schema.settings import Settings

VideoRow = dict[str, Any]


class Known:
    """The videos of one moment. Rows are dicts of the light columns of `videos`."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.videos: pa.Table = snapshot.videos

    def by_id(self, video_id: str) -> VideoRow | None:
        rows = self._where(pc.equal(self.videos["video_id"], video_id))
        return rows[0] if rows else None

    def at_path(self, path: Path) -> list[VideoRow]:
        """The videos that were seen at this path and are not missing."""
        aliases = self.videos["aliases"].combine_chunks()
        at = pc.equal(pc.list_flatten(aliases), str(path))
        owners = pc.list_parent_indices(aliases).filter(at)
        return [r for r in self.videos.take(owners).to_pylist() if not r["missing"]]

    def under(self, roots: Iterable[Path]) -> list[VideoRow]:
        """The videos not missing whose path is one of `roots` or inside one."""
        there = [str(r) for r in roots]
        rows = self._where(pc.invert(self.videos["missing"]))
        return [r for r in rows if any(_inside(r["path"], root) for root in there)]

    def settle(self, packets: Packets) -> tuple[str, list[VideoRow]]:
        """The content id of a file with these packets, and the videos that have it already.

        The first video of some packets has their digest; one with the same packets at other
        times has an id that its times are part of.
        """
        digest, times = packets.content_digest, packets.times_ms
        same: dict[str, list[VideoRow]] = {}
        for row, timing in self._similar(packets):
            content_id = row["content_id"]
            ours = content_id in (digest, timed_content_id(digest, timing))
            if ours and same_timing(timing, times):
                same.setdefault(content_id, []).append(row)
        if same:
            return next(iter(same.items()))
        taken = bool(self._where(pc.equal(self.videos["content_id"], digest)))
        return (timed_content_id(digest, times) if taken else digest), []

    def _similar(self, packets: Packets) -> Iterable[tuple[VideoRow, list[int]]]:
        """Videos that could be twins, the oldest first, with the times of their packets."""
        close = pc.less(pc.abs(pc.subtract(self.videos["duration_s"], packets.duration_s)), 1.0)
        exact = pc.equal(self.videos["content_id"], packets.content_digest)
        at = pc.indices_nonzero(pc.or_(exact, close)).to_numpy()
        rows = sorted(self.videos.take(at).to_pylist(), key=lambda r: r["added_at"])
        timings = self._timings([row["video_id"] for row in rows])
        return [(r, timing_times(timings[r["video_id"]])) for r in rows if r["video_id"] in timings]

    def _timings(self, video_ids: list[str]) -> dict[str, bytes]:
        table = self._snapshot.archive.store.read(
            "videos",
            ["video_id", "timing"],
            where=any_of("video_id", video_ids),
            version=self._snapshot.versions["videos"],
        )
        pairs = zip(table["video_id"].to_pylist(), table["timing"].to_pylist(), strict=True)
        return {video_id: timing for video_id, timing in pairs if timing is not None}

    def _where(self, mask: Any) -> list[VideoRow]:
        rows: list[VideoRow] = self.videos.filter(mask).to_pylist()
        return rows


def same_settings(row: VideoRow, settings: Settings) -> bool:
    stored: Mapping[str, object] = row["settings"]
    return dict(stored) == settings.row()


def note_seen(archive: Archive, known: Known, row: VideoRow, path: Path) -> bool:
    """Notes that the video's file is at `path`; whether it was moved there.

    Writes nothing where the archive knows this already.
    """
    gone = _gone(known, row)
    moved = row["path"] != str(path) and (row["missing"] or row["path"] in gone)
    if moved or row["missing"] or str(path) not in row["aliases"]:
        Writer(archive).mark_paths(row["video_id"], seen=[str(path)], gone=gone)
    return bool(moved)


def note_gone(archive: Archive, known: Known, row: VideoRow, path: str) -> None:
    """Notes that `path` no longer holds the video's file; without another it is missing."""
    Writer(archive).mark_paths(row["video_id"], gone=[path, *_gone(known, row)])


def _gone(known: Known, row: VideoRow) -> list[str]:
    """The aliases where the video's file no longer is, or another video's is now."""
    return [
        alias
        for alias in row["aliases"]
        if not os.path.lexists(alias)
        or any(
            other["path"] == alias and other["video_id"] != row["video_id"]
            for other in known.at_path(Path(alias))
        )
    ]


def _inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
