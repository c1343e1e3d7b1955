"""`reindex`: the vectors of another embedder for videos that are there, and nothing else.

Each video is decoded once, or not at all where a copy of it has been done, and has its vectors
in one commit: what is done stays done, so a run that was killed goes on. Captions, scenes and
the vectors of other spaces stay as they are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from reeldb.index.archive import Archive
from reeldb.index.commit import Vectors, Writer
from reeldb.index.spaces import space_table
from reeldb.index.store import quote
from reeldb.ingest.embedding import Embedding
from reeldb.ingest.file import File
from reeldb.ingest.memory import give_back
from reeldb.ingest.report import Event, Item, Progress, Report
from reeldb.ingest.sampling import ROUNDING_S, Take
from reeldb.media.container import shown_path
from reeldb.media.convert import to_rgb
from reeldb.media.decode import Decoding
from reeldb.media.orient import Orientation, shown_size
from reeldb.media.probe import probe
from reeldb.models.registry import DEFAULTS, NONE, Config, load
from reeldb.schema.errors import ArchiveError, IngestError, ModelError, ReelError
from reeldb.schema.models import Embedder, wanted_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reeldb.media.decode import Shown
    from reeldb.schema.models import Image

    Times = NDArray[np.float64]

VideoRow = dict[str, Any]


def reindex(
    archive: Archive,
    embedder: str | Embedder,
    *,
    config: Config | None = None,
    progress: Progress | None = None,
) -> Report:
    """Gives every video the embedder's vectors; when all have them, it becomes the archive's.

    Items are `embedded`, `copied` (from a video that shows the same), `known` (had them) or
    `failed`: then the archive keeps the embedder it has. Raises ModelError where there is no
    such embedder or it fails, ArchiveError where the archive cannot be written.
    """
    if archive.read_only:
        raise ArchiveError(f"{archive.path}: may not be written here; reindex a copy of it")
    model = _embedder(embedder, config)
    rows = archive.snapshot().videos.to_pylist()
    told = _Told(rows, progress)
    items = []
    for row in rows:
        items.append(_one(archive, model, row, told))
        told.through(row, items[-1])
    report = Report(items)
    if not report.failed and archive.models.get("embedder", "") != model.address:
        archive.set_model("embedder", model.address)
    return report


def _embedder(wanted: str | Embedder, config: Config | None) -> Embedder:
    if isinstance(wanted, Embedder):
        return wanted
    if wanted == NONE:
        raise ModelError(f"{NONE!r} makes no vectors; name an embedder, such as "
                         f"{DEFAULTS['embedder']}")  # fmt: skip
    return cast(Embedder, load(wanted, "embedder", config))


def _one(archive: Archive, embedder: Embedder, row: VideoRow, told: _Told) -> Item:
    """What became of one video. Raises ModelError and ArchiveError: no other would do better."""
    try:
        times = _times(archive, row)
        if _has_vectors(archive, embedder.space, str(row["ingest_id"])) or not len(times):
            return _item(row, "known", "")
        twin = _of_twin(archive, embedder, row, times)
        if twin is not None:
            _put(archive, embedder, row, twin)
            return _item(row, "copied", "of a video that shows the same")
        vectors, lost = _embedded(embedder, _file(row), row, times, lambda t: told.share(row, t))
        if not len(vectors.times_s):
            raise IngestError("not one of its pictures could be embedded")
        _put(archive, embedder, row, vectors)
        give_back()
        return _item(row, "embedded", f"{lost} pictures could not be embedded" if lost else "")
    except (ModelError, ArchiveError):
        raise
    except ReelError as error:
        why = str(error).removeprefix(f"{shown_path(row['path'])}: ")
        return _item(row, "failed", why)


def _item(row: VideoRow, outcome: Any, message: str) -> Item:
    return Item(str(row["path"]), outcome, message, row["video_id"], bool(row["damaged"]))


def _times(archive: Archive, row: VideoRow) -> Times:
    """The times of the video's pictures, in order."""
    found = archive.store.read("frames", ["t_s"], where=_of(str(row["ingest_id"])))
    return np.unique(np.asarray(found["t_s"].to_numpy(), np.float64))


def _has_vectors(archive: Archive, space: str, ingest_id: str) -> bool:
    """Whether the video has vectors: they come in one commit, so any are all."""
    table = space_table(space)
    return table in archive.store.tables() and archive.store.count(table, _of(ingest_id)) > 0


def _of(ingest_id: str) -> str:
    return f"ingest_id = {quote(ingest_id)}"


def _of_twin(archive: Archive, embedder: Embedder, row: VideoRow, times: Times) -> Vectors | None:
    """The vectors of a video with the same pictures at the same times, if one has them."""
    table = space_table(embedder.space)
    if table not in archive.store.tables():
        return None
    for other in archive.snapshot().videos.to_pylist():
        if other["content_id"] != row["content_id"] or other["video_id"] == row["video_id"]:
            continue
        found = archive.store.read(table, ["t_s", "vector"], where=_of(str(other["ingest_id"])))
        if other["settings"] == row["settings"] and len(found):
            flat = found["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
            there = np.asarray(found["t_s"].to_numpy(), np.float64)
            if set(there) <= set(times):
                matrix = np.asarray(flat, np.float32).reshape(len(found), -1)
                return Vectors(embedder.space, there, matrix)
    return None


def _put(archive: Archive, embedder: Embedder, row: VideoRow, vectors: Vectors) -> None:
    Writer(archive).put_vectors(
        row["video_id"], vectors, embedder.address, ingest_id=str(row["ingest_id"])
    )


def _file(row: VideoRow) -> File:
    """The video's file, under any of its names. Raises IngestError where it is gone."""
    for name in dict.fromkeys([row["path"], *reversed(row["aliases"] or [])]):
        if name and Path(name).is_file():
            file = File.read(Path(name))
            if file.video_id == row["video_id"]:
                return file
    raise IngestError(
        "its file is gone or changed: bring it back and run this again, or take the video out "
        f"with `reel rm {row['video_id']}`"
    )


@dataclass(slots=True)
class _Kept:
    """One picture that was embedded, and the times it stands for."""

    take: Take
    times_s: list[float]


def _embedded(
    embedder: Embedder, file: File, row: VideoRow, times: Times, share: Callable[[float], None]
) -> tuple[Vectors, int]:
    """The vectors of the pictures at these times, by one decode, and how many times have none.

    At a time it is the last picture shown at or before it, as when the video was added; with
    `scan = keyframes` the last keyframe.
    """
    keyframes = row["settings"]["scan"] == "keyframes"
    turn = probe(file.path).orientation
    kept: list[_Kept] = []
    with Decoding(file.path, keyframes_only=keyframes) as pictures, Embedding(embedder) as queue:
        for shown, at in _at_times(pictures, times):
            share(shown.t_s)
            kept.append(_Kept(Take(b""), at))
            queue.put(kept[-1].take, _fitted(shown, turn, embedder))
    file.check_unchanged()
    good = [(t, k.take.vector) for k in kept for t in k.times_s if k.take.vector is not None]
    found = np.array([t for t, _ in good], np.float64)
    matrix = np.array([v for _, v in good], np.float32).reshape(len(good), embedder.dim)
    return Vectors(embedder.space, found, matrix), len(times) - len(good)


def _at_times(pictures: Decoding, times: Times) -> Iterator[tuple[Shown, list[float]]]:
    """Every picture that is wanted, with the times it is wanted for."""
    waiting = deque(times.tolist())
    last: Shown | None = None
    for shown in pictures:
        if last is not None and (at := _before(waiting, shown.t_s)):
            yield last, at
        last = shown
        if not waiting:
            return
    if last is not None and waiting:
        yield last, list(waiting)


def _before(waiting: deque[float], t_s: float) -> list[float]:
    """Takes the times at which the picture before the one at `t_s` was shown."""
    at = []
    while waiting and waiting[0] + ROUNDING_S < t_s:
        at.append(waiting.popleft())
    return at


def _fitted(shown: Shown, turn: Orientation, embedder: Embedder) -> Image:
    frame = shown.frame
    shape = shown_size(frame.width, frame.height, turn)
    return to_rgb(frame, turn, size=wanted_size(embedder, *shape))


class _Told:
    """Tells how far it has come, in seconds of video."""

    def __init__(self, rows: Sequence[VideoRow], progress: Progress | None) -> None:
        self._progress = progress
        self._total = float(sum(row["duration_s"] or 0.0 for row in rows))
        self._done = 0.0
        self._through = 0
        self._count = len(rows)

    def share(self, row: VideoRow, t_s: float) -> None:
        if self._progress is not None:
            what = f"{row['name']} ({self._through + 1} of {self._count})"
            self._progress(Event(what, self._done + t_s, self._total))

    def through(self, row: VideoRow, item: Item) -> None:
        self._through += 1
        length_s = row["duration_s"] or 0.0
        if item.outcome == "embedded":
            self._done += length_s
        else:
            self._total -= length_s  # so that the rate is that of real work
        if self._progress is not None:
            self._progress(Event(item.path, self._done, self._total, item))
