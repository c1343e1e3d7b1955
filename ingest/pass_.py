"""The one decode pass over a file: pictures in, scenes, sampled pictures and vectors out.

Three threads: one decodes ahead (FFmpeg adds its frame threads), this one looks at every
picture (`scenes`) and keeps some (`sampling`), one embeds what is kept. Memory is bounded in
bytes everywhere, so length and picture size do not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
from av.video.format import VideoFormat

from reeldb.ingest.ahead import Ahead
from reeldb.ingest.embedding import Embedding
from reeldb.ingest.rows import Rows, Stage
from reeldb.ingest.sampling import Recent, Sample, Sampler, Take
from reeldb.ingest.scenes import SceneFinder
from reeldb.media.convert import small_bgr, to_rgb
from reeldb.media.decode import Decoding, Shown
from reeldb.media.jpeg import encode_jpeg
from reeldb.media.orient import Orientation, shown_size
from reeldb.media.pictures import Pictures
from reeldb.schema.models import wanted_size
from reeldb.schema.settings import Settings
from reeldb.schema.spans import Span, tile

if TYPE_CHECKING:
    from reeldb.schema.models import Embedder, Image

_AHEAD_BYTES = 96 << 20
_RECENT_BYTES = 96 << 20
_DETECT_SIDE = 160  # longest side scenes are found on; PySceneDetect's 256 finds the same cuts
_THUMBNAIL_WIDTH = 160


@dataclass(frozen=True, slots=True)
class Passed:
    """What one pass found out. Times in seconds from the first shown picture."""

    duration_s: float
    frame_count: int
    scenes: list[Span]
    keys_s: list[float]
    lost_frames: int
    damaged: bool
    start_pts_s: float
    note: str


class Pass:
    """One pass over one file. Raises MediaError where no picture can be decoded.

    `progress` gets the seconds of video done so far, for every picture.
    """

    def __init__(
        self,
        path: Path,
        orientation: Orientation,
        settings: Settings,
        embedder: Embedder | None,
        stage: Stage,
        progress: Callable[[float], None],
    ) -> None:
        self._path = path
        self._orientation = orientation
        self._settings = settings
        self._embedder = embedder
        self._embedding: Embedding | None = None
        self._progress = progress
        self._cuts: list[float] = []
        self._keys: list[float] = []
        self._rows = Rows(stage, self._cuts, embedder is not None)
        self._finder = SceneFinder(settings)
        self._recent = Recent(picture_bytes, _RECENT_BYTES)
        self._sampler = Sampler(settings.fps, self._recent, self._take)

    def run(self) -> Passed:
        cv2.setNumThreads(1)  # pictures are small: more threads only wait for each other
        keyframes = self._settings.scan == "keyframes"
        with ExitStack() as stack:
            stack.callback(self._recent.clear)
            if self._embedder is not None:
                self._embedding = stack.enter_context(Embedding(self._embedder))
            decoding = stack.enter_context(Decoding(self._path, keyframes_only=keyframes))
            with Ahead(decoding, picture_bytes, _AHEAD_BYTES) as pictures:
                for shown in pictures:
                    self._look(shown)
            passed = self._end(decoding)
        self._rows.finish()
        return replace(passed, note=self._note(passed.note))

    def _note(self, note: str) -> str:
        lost = self._rows.unembedded
        told = f"{lost} pictures could not be embedded" if lost else ""
        return "; ".join(filter(None, [note, told]))

    def _look(self, shown: Shown) -> None:
        self._sampler.show(shown)
        self._close(self._finder.feed(shown.t_s, small_bgr(shown.frame, _DETECT_SIDE)))
        self._keep(self._finder.settled_s)
        self._progress(shown.t_s)

    def _end(self, decoding: Decoding) -> Passed:
        duration_s = decoding.duration_s
        self._sampler.end(duration_s)
        self._close([c for c in self._finder.finish() if c < duration_s])
        scenes = tile(duration_s, self._cuts)
        self._keys.append(self._sampler.key_s(scenes[-1]))
        self._fetch_missing()
        self._keep(duration_s)
        return Passed(
            duration_s=duration_s,
            frame_count=decoding.frame_count,
            scenes=scenes,
            keys_s=self._keys,
            lost_frames=decoding.lost_frames,
            damaged=decoding.damaged,
            start_pts_s=decoding.start_pts_s,
            note=decoding.note,
        )

    def _close(self, cuts: list[float]) -> None:
        """Takes the key pictures of the scenes that these cuts end."""
        for cut in cuts:
            if cut > 0:
                self._keys.append(self._sampler.key_s(Span(self._start_s, cut)))
                self._cuts.append(cut)

    @property
    def _start_s(self) -> float:
        return self._cuts[-1] if self._cuts else 0.0

    def _keep(self, settled_s: float) -> None:
        if self._sampler.samples:
            self._rows.add(self._sampler.samples)
            self._sampler.samples = []
            self._rows.flush(settled_s)

    def _take(self, shown: Shown) -> Take:
        frame, turn = shown.frame, self._orientation
        shape = shown_size(frame.width, frame.height, turn)
        take = Take(encode_jpeg(to_rgb(frame, turn, size=thumbnail_size(*shape))))
        if self._embedding is not None and self._embedder is not None:
            size = wanted_size(self._embedder, *shape)
            self._embedding.put(take, to_rgb(frame, turn, size=size))
        return take

    def _fetch_missing(self) -> None:
        """Key pictures that were no longer in memory when their scene became known."""
        times, self._sampler.missing_s = self._sampler.missing_s, []
        if times:
            with Pictures(self._path) as pictures:
                for t_s in sorted(times):  # one at a time: they are full-sized
                    take = self._take_image(pictures.at([t_s])[0])
                    self._sampler.samples.append(Sample(t_s, None, take))

    def _take_image(self, image: Image) -> Take:
        height, width = image.shape[:2]
        take = Take(encode_jpeg(_resized(image, thumbnail_size(width, height))))
        if self._embedding is not None and self._embedder is not None:
            size = wanted_size(self._embedder, width, height)
            self._embedding.put(take, _resized(image, size))
        return take


def thumbnail_size(width: int, height: int) -> tuple[int, int]:
    """The size of the thumbnail of a picture of that size as shown; none is enlarged.

    >>> thumbnail_size(1280, 720), thumbnail_size(120, 160)
    ((160, 90), (120, 160))
    """
    wide = min(width, _THUMBNAIL_WIDTH)
    return wide, min(max(1, round(height * wide / width)), 4 * _THUMBNAIL_WIDTH)


def picture_bytes(shown: Shown) -> int:
    """What a decoded picture weighs in memory, as planes."""
    frame = shown.frame
    return frame.width * frame.height * (_bits(frame.format.name) + 7) // 8


@cache
def _bits(pixel_format: str) -> int:
    return max(8, VideoFormat(pixel_format).padded_bits_per_pixel)


def _resized(image: Image, size: tuple[int, int]) -> Image:
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
