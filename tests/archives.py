"""Archives of made-up rows, without any media: for tests of every room.

`make_archive(path, [synthetic_video("a.mp4", scenes=[(0, 2), (2, 5)])])` takes some 50 ms.
Pass `shares` to `synthetic_video` to make a remuxed copy of another video's content.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reeldb.index.archive import Archive
from reeldb.index.commit import Ingest, Vectors, Writer
from reeldb.schema.digests import digest
from reeldb.schema.settings import Settings, grid_ms
from reeldb.schema.tables import FRAMES, SCENES, SPEECH

SPACE = "test"
DIM = 8
THUMBNAIL = b"\xff\xd8 no real picture \xff\xd9"


def unit(*parts: object, dim: int = DIM) -> NDArray[np.float32]:
    """A unit vector that depends on `parts` only: the same on every run and machine."""
    seed = int(digest(*map(str, parts))[:12], 16)
    vector = np.random.default_rng(seed).standard_normal(dim)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def synthetic_video(
    name: str,
    scenes: Sequence[tuple[float, float]] = ((0.0, 2.0), (2.0, 5.0)),
    fps: float = 1.0,
    space: str | None = SPACE,
    vectors: NDArray[np.float32] | None = None,
    subtitles: Sequence[tuple[float, float, str]] = (),
    shares: str | None = None,
    video_id: str | None = None,
    folder: str = "/videos",
    **video: Any,
) -> Ingest:
    """The rows that adding a file of this name would make.

    Pictures lie on the grid of `fps`, and each scene's key picture in its middle. `vectors`
    has a row for each picture in time order (default: made up, `unit(name, t_s)`, width 8).
    `shares` names the video whose content_id and sound_id this one has. Further keywords
    are columns of `videos`.
    """
    video_id = video_id or digest("file", folder, name)
    duration_s = scenes[-1][1] if scenes else 0.0
    frames = _frames(video_id, scenes, fps)
    times = frames["t_s"].to_numpy()
    if vectors is None and space is not None:
        vectors = np.stack([unit(name, t) for t in times]) if len(times) else None
    return Ingest(
        video={
            **_video_row(name, f"{folder}/{name}", video_id, shares or name, duration_s),
            "scene_count": len(scenes),
            "settings": Settings(fps=fps).row(),
            "embedder": f"fake:{space}" if space else None,
            **video,
        },
        scenes=pa.Table.from_pylist(
            [
                {"video_id": video_id, "scene_no": n, "start_s": a, "end_s": b, "key_s": _key(a, b)}
                for n, (a, b) in enumerate(scenes)
            ],
            schema=SCENES,
        ),
        frames=frames,
        subtitles=_cues(video_id, subtitles),
        vectors=None if vectors is None or space is None else Vectors(space, times, vectors),
    )


def _video_row(
    name: str, path: str, video_id: str, content: str, duration_s: float
) -> dict[str, Any]:
    return {
        "video_id": video_id,
        "name": name,
        "path": path,
        "aliases": [path],
        "content_id": digest("content", content),
        "sound_id": digest("sound", content),
        "file_hash": video_id,
        "bytes": 1000,
        "duration_s": duration_s,
        "fps": 25.0,
        "frame_count": round(duration_s * 25),
        "width": 160,
        "height": 120,
        "rotation": 0,
        "codec": "h264",
        "stream": 0,
        "has_audio": True,
        "start_pts_s": 0.0,
        "damaged": False,
        "lost_frames": 0,
        "hdr": False,
        "note": "",
        "missing": False,
        "added_at": datetime(2024, 1, 1),
    }


def _key(start_s: float, end_s: float) -> float:
    return round((start_s + end_s) / 2, 3)


def _frames(video_id: str, scenes: Sequence[tuple[float, float]], fps: float) -> pa.Table:
    """Grid pictures and the key picture of every scene, in time order."""
    duration_s = scenes[-1][1] if scenes else 0.0
    grid = {grid_ms(fps, k) / 1000: k for k in range(int(duration_s * fps) + 2)}
    grid = {t: k for t, k in grid.items() if t < duration_s}
    times = sorted({*grid, *(_key(a, b) for a, b in scenes)})
    starts = np.array([a for a, _ in scenes])
    rows = [
        {
            "video_id": video_id,
            "t_s": t,
            "on_grid": t in grid,
            "frame_no": grid.get(t),
            "scene_no": int(np.searchsorted(starts, t, "right")) - 1,
            "thumbnail": THUMBNAIL,
        }
        for t in times
    ]
    return pa.Table.from_pylist(rows, schema=FRAMES)


def _cues(video_id: str, cues: Iterable[tuple[float, float, str]]) -> pa.Table:
    rows = [
        {
            "key": digest("cue", video_id, str(n)),
            "source_id": video_id,
            "line_no": n,
            "start_s": a,
            "end_s": b,
            "text": text,
            "confidence": 1.0,
            "language": "en",
            "model": "subtitle",
        }
        for n, (a, b, text) in enumerate(cues)
    ]
    return pa.Table.from_pylist(rows, schema=SPEECH)


def make_archive(path: Path, videos: Iterable[Ingest] = ()) -> Archive:
    """An archive at `path` (made where it is not) with these videos added, one commit each."""
    archive = Archive.open(path, create=True)
    for ingest in videos:
        with Writer(archive) as writer:
            writer.put(ingest)
    return archive
