"""Exact pictures by time: the last picture shown at or before a time, as a sequential decode
would give it, whatever the stream is like.

Seeking saves decoding where the file has several keyframes and a clock that never restarts.
Each seek is checked by what it lands on; where that is not the keyframe looked for, or the
decoder does not begin with it, the file is decoded from its start.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from av.video.frame import VideoFrame

from reeldb.media.container import shown_path
from reeldb.media.convert import to_rgb
from reeldb.media.decode import Decoding
from reeldb.media.orient import orientation_of
from reeldb.media.run import KeyframeRun, Run
from reeldb.media.track import Keyframe, Track, track
from reeldb.schema.errors import MediaError

if TYPE_CHECKING:
    from reeldb.schema.models import Image

_THREADS = min(4, os.cpu_count() or 1)
_WORTH_A_SEEK = 12  # packets; decoding fewer is cheaper than a seek and a refill
_ROUNDING_S = 1e-6


def pictures_at(
    path: str | os.PathLike[str], times_s: Sequence[float], *, max_side: int | None = None
) -> list[Image]:
    """The pictures as shown at these times, RGB, in the order asked for; see `Pictures.at`."""
    with Pictures(path) as pictures:
        return pictures.at(times_s, max_side=max_side)


class Pictures:
    """A file kept open for its pictures. Raises MediaError where it cannot be opened or not
    one picture can be decoded."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self._decoding = Decoding(path, threads=_THREADS)
        self._run = Run.from_start(self._decoding)
        self._track: Track | None = None  # read when it may first save something
        sar = self._decoding.stream.sample_aspect_ratio
        self.orientation = orientation_of(self._run.now.frame, sar)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._decoding.close()

    def at(self, times_s: Sequence[float], *, max_side: int | None = None) -> list[Image]:
        """For each time (seconds from the first picture) the last picture shown at or before
        it, RGB and upright, in its own size or with its longest side at most `max_side`.

        Times may come in any order and repeat. One before the first picture gives the first,
        one after the end the last. Raises ValueError for a time that is not a number.
        """
        images: dict[float, Image] = {}
        last: tuple[VideoFrame, Image] | None = None
        for t_s in sorted(set(times_s)):
            if math.isnan(t_s):
                raise ValueError("a time is a number of seconds, not nan")
            frame = self._frame_at(max(0.0, t_s))
            if last is None or last[0] is not frame:
                last = frame, to_rgb(frame, self.orientation, max_side)
            images[t_s] = last[1]
        return [images[t_s] for t_s in times_s]

    def _frame_at(self, t_s: float) -> VideoFrame:
        limit_s = t_s + _ROUNDING_S
        run = self._run
        behind = run.now.t_s > limit_s
        ahead = run.following is not None and run.following.t_s <= limit_s
        if behind or ahead:
            keys = self._keys_before(limit_s)
            if behind or (keys and keys[0].at > run.position + _WORTH_A_SEEK):
                self._run = run = self._nearest_run(keys, limit_s)
        return run.go_to(limit_s)

    def _keys_before(self, limit_s: float) -> list[Keyframe]:
        if self._track is None:
            try:
                self._track = track(self.path)
            except OSError as error:
                raise MediaError(f"{shown_path(self.path)}: is gone: {error.strerror}") from error
        tick = float(self._decoding.packets.tick)
        return self._track.before(self._decoding.origin + math.floor(min(limit_s / tick, 1e18)))

    def _nearest_run(self, keys: list[Keyframe], limit_s: float) -> Run:
        """A decode from the nearest keyframe that can be trusted, else from the start."""
        for key in keys:
            run = KeyframeRun.from_key(self._decoding, key)
            if run is not None and run.now.t_s <= limit_s:
                return run
        if keys:
            self._track = Track(())  # this file does not keep what its keyframes promise
        self._decoding.close()
        self._decoding = Decoding(self.path, threads=_THREADS)
        return Run.from_start(self._decoding)
