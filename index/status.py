"""`reel status`: what an archive holds, in numbers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from reeldb.index.archive import Archive
from reeldb.index.compact import size
from reeldb.index.snapshot import Snapshot
from reeldb.schema.migrations import FORMAT


def status(archive: Archive) -> dict[str, Any]:
    """Counts of live rows, bytes on disk, models and versions, by plain names."""
    return {
        "path": str(archive.path),
        "format": FORMAT,
        "read_only": archive.read_only,
        **archive.read(_counts),
        "models": dict(archive.models),
        "bytes": size(archive)[0],
        "cache_bytes": _cache_bytes(archive),
    }


def _counts(snapshot: Snapshot) -> dict[str, Any]:
    videos = snapshot.videos
    return {
        "videos": len(videos),
        "missing": _true(videos["missing"]),
        "damaged": _true(videos["damaged"]),
        "hours": (pc.sum(videos["duration_s"]).as_py() or 0.0) / 3600,
        "scenes": len(snapshot.relation("scenes")),
        "pictures": len(snapshot.relation("frames")),
        "vectors": _by(snapshot.relation("embeddings"), "space"),
        "captions": _by(snapshot.rows("captions"), "model", "ok"),
        "looks": _by(snapshot.rows("tool_runs"), "tool"),
        "subtitles_and_speech": _by(snapshot.relation("speech"), "model"),
        "replies": _by(snapshot.rows("replies"), "model"),
        "answers": len(snapshot.relation("answers")),
        "versions": dict(snapshot.versions),
    }


def _true(column: pa.ChunkedArray) -> int:
    return int(pc.sum(column).as_py() or 0)


def _by(rows: pa.Table, column: str, status: str | None = None) -> dict[str, int]:
    """How many rows there are of each value, of one status where it is given."""
    if status is not None:
        rows = rows.filter(pc.equal(rows["status"], status))
    counted = pc.value_counts(rows[column].combine_chunks())
    pairs = ((str(c["values"]), int(c["counts"])) for c in counted.to_pylist())
    return dict(sorted(pairs))


def _cache_bytes(archive: Archive) -> int:
    files = archive.cache.iterdir() if archive.cache.is_dir() else ()
    return sum(p.stat().st_size for p in files if p.is_file())
