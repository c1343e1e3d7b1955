"""The sound of a file by time, on the clock of its pictures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer

from reeldb.media.container import has_video, keep_only, open_media, pick_sound, shown_path
from reeldb.media.packets import ABSURD_S, demux_on
from reeldb.media.probe import start_s
from reeldb.media.track import track
from reeldb.schema.errors import MediaError

if TYPE_CHECKING:
    from reeldb.schema.models import Sound

_PREROLL_S = 2.0
_GAP_S = 0.05
_BACK_S = 1.0
_NONE = np.zeros(0, np.float32)


def has_sound(path: str | os.PathLike[str]) -> bool:
    """Whether the file has a sound stream that can be decoded. Raises MediaError."""
    with open_media(path) as container:
        return pick_sound(container) is not None


def sound(
    path: str | os.PathLike[str],
    start_s: float = 0.0,
    end_s: float | None = None,
    rate: int = 16000,
) -> Sound:
    """Mono samples in -1..1, `rate` a second, from `start_s` seconds after the first shown
    picture (in a file without pictures: after the first sound).

    With `end_s` there are exactly as many as fit in between, silent where the file has no
    sound; without, they go on to the last sound. Raises MediaError where there is no sound.
    """
    clock = _Clock(path)
    with open_media(path) as container:
        stream = pick_sound(container)
        if stream is None:
            raise MediaError(f"{shown_path(path)}: has no sound; ask has_sound() first")
        keep_only(container, stream)
        pieces = list(_pieces(container, stream, clock, start_s, end_s, rate))
    last = max((at + len(samples) for at, samples in pieces), default=0)
    length = max(0, last if end_s is None else round((end_s - start_s) * rate))
    out = np.zeros(length, np.float32)
    for at, samples in pieces:
        a, b = max(0, at), min(length, at + len(samples))
        if a < b:
            out[a:b] = samples[a - at : b - at]
    return out


class _Clock:
    """Where the file's own time lies on the clock of the pictures."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        with open_media(path) as container:
            pictures = has_video(container)
        self.origin_s: float | None = start_s(path) if pictures else None
        self.offsets_s = [0.0, *(track(path).offsets_s if pictures else ())]

    @property
    def restarts(self) -> bool:
        return len(self.offsets_s) > 1

    def at(self, stamp_s: float, part: int) -> float:
        """The time of a stamp in the `part`-th of the recordings joined in the file."""
        if self.origin_s is None:
            self.origin_s = stamp_s
        return stamp_s + self.offsets_s[min(part, len(self.offsets_s) - 1)] - self.origin_s


def _pieces(
    container: InputContainer,
    stream: AudioStream,
    clock: _Clock,
    start_s: float,
    end_s: float | None,
    rate: int,
) -> Iterator[tuple[int, Sound]]:
    """Stretches of unbroken sound, each with the number of its first sample after `start_s`."""
    if start_s > _PREROLL_S and not clock.restarts and clock.origin_s is not None:
        target_s = start_s + clock.origin_s - _PREROLL_S
        try:
            container.seek(round(target_s / _tick(stream)), stream=stream)
        except av.FFmpegError:
            container.seek(0)
    piece: _Piece | None = None
    for t_s, frame in _frames(container, stream, clock):
        if end_s is not None and t_s >= end_s:
            break
        if t_s - (start_s if piece is None else piece.end_s) > ABSURD_S:
            continue  # a wild timestamp
        if piece is None or not piece.goes_on(t_s, frame):
            if piece is not None:
                yield piece.placed(start_s)
            piece = _Piece(t_s, frame, rate)
        piece.add(frame)
    if piece is not None:
        yield piece.placed(start_s)


class _Piece:
    """Sound without a gap and of one kind, resampled as it comes."""

    def __init__(self, begun_s: float, frame: AudioFrame, rate: int) -> None:
        self.begun_s, self.end_s, self.rate = begun_s, begun_s, rate
        self._kind = _kind(frame)
        self._resampler = AudioResampler(format="flt", layout="mono", rate=rate)
        self._parts: list[Sound] = []

    def goes_on(self, t_s: float, frame: AudioFrame) -> bool:
        return abs(t_s - self.end_s) <= _GAP_S and _kind(frame) == self._kind

    def add(self, frame: AudioFrame | None) -> None:
        """Takes the next frame, or None at the end."""
        if frame is not None:
            self.end_s += frame.samples / frame.sample_rate
            frame.pts = None  # the resampler would fill gaps by itself
        for made in self._resampler.resample(frame):
            self._parts.append(np.asarray(made.to_ndarray(), np.float32).reshape(-1))

    def placed(self, start_s: float) -> tuple[int, Sound]:
        """The samples and the number of the first one after `start_s`."""
        self.add(None)
        return round((self.begun_s - start_s) * self.rate), np.concatenate(self._parts or [_NONE])


def _kind(frame: AudioFrame) -> tuple[str, str, int]:
    return frame.format.name, frame.layout.name, frame.sample_rate


def _frames(
    container: InputContainer, stream: AudioStream, clock: _Clock
) -> Iterator[tuple[float, AudioFrame]]:
    part, last_s, following_s = 0, None, 0.0
    for packet in chain(demux_on(container, stream), (None,)):
        try:
            frames = stream.codec_context.decode(packet)
        except av.FFmpegError:
            continue
        for frame in frames:
            stamp_s = following_s if frame.pts is None else float(frame.pts * _tick(stream))
            if last_s is not None and last_s - stamp_s > _BACK_S:
                part += 1
            last_s = stamp_s
            following_s = stamp_s + frame.samples / frame.sample_rate
            yield clock.at(stamp_s, part), frame


def _tick(stream: AudioStream) -> Fraction:
    return stream.time_base or Fraction(1, stream.rate)
