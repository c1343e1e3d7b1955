"""Rows on their way to the archive: kept only until their scene and vector are known."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from reeldb.schema.spans import Span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reeldb.ingest.sampling import Sample
    from reeldb.schema.models import Vectors

    Times = NDArray[np.float64]

_BATCH = 1024  # rows; a thumbnail is some 4 kB, a vector some 2 kB


class Stage(Protocol):
    """Where batches go; columns that name the video and the ingest are added there."""

    def frames(self, rows: pa.Table) -> None: ...

    def vectors(self, times_s: Times, matrix: Vectors) -> None: ...


class Rows:
    """The rows of one video's `frames` and `embeddings`, sent off in batches.

    `cuts_s` is the caller's growing list of cuts: it says which scene a time lies in.
    """

    def __init__(self, stage: Stage, cuts_s: list[float], with_vectors: bool) -> None:
        self._stage = stage
        self._cuts = cuts_s
        self._frames: deque[Sample] = deque()
        self._vectors: deque[Sample] | None = deque() if with_vectors else None
        self.unembedded = 0

    def add(self, samples: list[Sample]) -> None:
        self._frames.extend(samples)
        if self._vectors is not None:
            self._vectors.extend(samples)

    def flush(self, settled_s: float) -> None:
        """Sends what can be sent in full batches; the scenes before `settled_s` are known."""
        if len(self._frames) >= _BATCH:
            self._send_frames(settled_s)
        if self._vectors is not None and len(self._vectors) >= 2 * _BATCH:
            self._send_vectors()

    def finish(self) -> None:
        """Sends the rest; all cuts are known and all pictures embedded."""
        self._send_frames(float("inf"))
        self._send_vectors()

    def _send_frames(self, settled_s: float) -> None:
        ready = _pop(self._frames, lambda sample: sample.t_s < settled_s)
        if ready:
            self._stage.frames(
                pa.table(
                    {
                        "t_s": [s.t_s for s in ready],
                        "on_grid": [s.frame_no is not None for s in ready],
                        "frame_no": pa.array([s.frame_no for s in ready], pa.int32()),
                        "scene_no": [bisect_right(self._cuts, s.t_s) for s in ready],
                        "thumbnail": pa.array([s.take.thumbnail for s in ready], pa.binary()),
                    }
                )
            )

    def _send_vectors(self) -> None:
        ready = _pop(self._vectors, lambda sample: sample.take.done) if self._vectors else []
        good = [(s.t_s, s.take.vector) for s in ready if s.take.vector is not None]
        self.unembedded += len(ready) - len(good)
        if good:
            times = np.array([t for t, _ in good], np.float64)
            self._stage.vectors(times, np.stack([vector for _, vector in good]))


def _pop(waiting: deque[Sample], is_ready: Callable[[Sample], bool]) -> list[Sample]:
    ready = []
    while waiting and is_ready(waiting[0]):
        ready.append(waiting.popleft())
    return ready


def scene_rows(spans: list[Span], keys_s: list[float]) -> pa.Table:
    """The rows of `scenes`, without the columns that name the video."""
    return pa.table(
        {
            "scene_no": pa.array(range(len(spans)), pa.int32()),
            "start_s": [s.start_s for s in spans],
            "end_s": [s.end_s for s in spans],
            "key_s": keys_s,
        }
    )
