"""The `videos` row of a file, from everything that was found out about it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from reeldb.ingest.file import File
from reeldb.ingest.pass_ import Passed
from reeldb.media.identity import Packets, timing_blob
from reeldb.media.probe import Probe
from reeldb.schema.settings import Settings

VideoRow = dict[str, Any]
_SHARED = (
    "content_id", "duration_s", "fps", "frame_count", "width", "height", "rotation", "damaged",
    "lost_frames", "hdr", "note", "scene_count", "settings", "embedder",
)  # fmt: skip


def file_columns(file: File, found: Probe, packets: Packets) -> VideoRow:
    """The columns that belong to this very file, whatever its pictures are."""
    path = str(file.path)
    return {
        "video_id": file.video_id,
        "name": file.path.name,
        "path": path,
        "aliases": [path],
        "file_hash": file.video_id,
        "bytes": file.bytes,
        "sound_id": packets.sound_digest,
        "sound_start_s": packets.sound_start_s,
        "codec": found.codec,
        "stream": found.stream,
        "has_audio": found.has_audio,
        "start_pts_s": 0.0,
        "missing": False,
        "added_at": datetime.now(UTC).replace(tzinfo=None),
        "timing": timing_blob(packets.times_ms),
    }


def decoded_columns(found: Probe, passed: Passed, settings: Settings, embedder: str) -> VideoRow:
    """The columns that the decode pass found out."""
    return {
        "duration_s": passed.duration_s,
        "fps": round(passed.frame_count / passed.duration_s, 3),
        "frame_count": passed.frame_count,
        "width": found.width,
        "height": found.height,
        "rotation": found.rotation,
        "start_pts_s": passed.start_pts_s,
        "damaged": passed.damaged,
        "lost_frames": passed.lost_frames,
        "hdr": found.hdr,
        "note": passed.note,
        "scene_count": len(passed.scenes),
        "settings": settings.row(),
        "embedder": embedder,
    }


def twin_columns(twin: VideoRow) -> VideoRow:
    """The columns that two files with the same pictures share."""
    return {name: twin[name] for name in _SHARED}
