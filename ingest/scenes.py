"""Cuts from small pictures: PySceneDetect's detectors, fed by our own decoder.

The detectors judge neighbours; how close two cuts may be is decided here, in seconds, the
same for every frame rate. PySceneDetect counts the first picture as a cut and drops what
follows too soon, and never judges the last pictures; here the minimum lies between cuts, so
the first and the last scene may be shorter.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import cv2
import numpy as np
from scenedetect.common import FrameTimecode, Timecode
from scenedetect.detectors import (
    AdaptiveDetector,
    ContentDetector,
    HashDetector,
    HistogramDetector,
)

from reeldb.ingest.spacing import Merge, Spacing, Suppress
from reeldb.schema.settings import Settings

if TYPE_CHECKING:
    from reeldb.schema.models import Image

THRESHOLDS = {"content": 27.0, "adaptive": 3.0, "hash": 0.35, "histogram": 0.2}
"""The defaults, each in its detector's unit."""

_WINDOW = 2  # pictures each side that `adaptive` compares with, and so its delay
_MICRO = Fraction(1, 1_000_000)
_RATE = Fraction(25)  # FrameTimecode wants one; only pts and time base are used


def _score(detector: Any, picture: Image) -> float:
    """ContentDetector's score with its default weights, by OpenCV instead of int32 copies:
    the mean difference of hue, saturation and value between two pictures."""
    now = cv2.cvtColor(picture, cv2.COLOR_BGR2HSV)
    before, detector._last_frame = detector._last_frame, now
    if before is None:
        return 0.0
    return float(cv2.norm(now, before, cv2.NORM_L1)) / now.size


class _Content(ContentDetector):  # type: ignore[misc]
    def _calculate_frame_score(self, timecode: FrameTimecode, frame_img: Image) -> float:
        return _score(self, frame_img)


class _Adaptive(AdaptiveDetector):  # type: ignore[misc]
    def _calculate_frame_score(self, timecode: FrameTimecode, frame_img: Image) -> float:
        return _score(self, frame_img)


def _detector(name: str, threshold: float) -> Any:
    """A detector without a length rule of its own."""
    match name:
        case "content":
            return _Content(threshold=threshold, min_scene_len=0)
        case "adaptive":
            return _Adaptive(adaptive_threshold=threshold, min_scene_len=0, window_width=_WINDOW)
        case "hash":
            return HashDetector(threshold=threshold, min_scene_len=0)
        case "histogram":
            return HistogramDetector(threshold=threshold, min_scene_len=0)
    raise ValueError(f"no detector is called {name}")


def with_threshold(settings: Settings) -> Settings:
    """The same settings with the detector's default written out, as an archive stores them."""
    if settings.threshold is not None:
        return settings
    return replace(settings, threshold=THRESHOLDS[settings.detector])


class SceneFinder:
    """Cuts of one video, from its pictures in order.

    `feed` and `finish` give the cuts that became certain, in seconds, each later than all
    before; a cut may become certain well after its picture. Every cut is the time of a
    picture that was fed. No further cut will lie before `settled_s`.
    """

    def __init__(self, settings: Settings) -> None:
        settings = with_threshold(settings)
        self._adaptive = settings.detector == "adaptive"
        self._detector = _detector(settings.detector, cast(float, settings.threshold))
        spacing = Merge if settings.detector == "content" else Suppress
        self._spacing: Spacing = spacing(settings.min_scene)
        self._times: deque[float] = deque(maxlen=2 * _WINDOW + 1)
        self._last: Image | None = None

    @property
    def settled_s(self) -> float:
        return self._spacing.settled_s(self._judged_s) if self._times else 0.0

    @property
    def _judged_s(self) -> float:
        """The time of the latest picture that the detector has decided on."""
        return self._times[max(0, len(self._times) - 1 - _WINDOW) if self._adaptive else -1]

    def feed(self, t_s: float, picture: Image) -> list[float]:
        """Takes the next picture: BGR, at most a few hundred pixels wide, upright or not."""
        if self._last is None and self._adaptive:
            for _ in range(_WINDOW):  # so that the second picture is judged too
                self._judge(t_s, picture)
        elif self._last is not None and self._last.shape != picture.shape:
            height, width = self._last.shape[:2]
            picture = cast("Image", cv2.resize(picture, (width, height)))
        self._last = picture
        return self._judge(t_s, picture)

    def finish(self) -> list[float]:
        """The cuts that were waiting for more pictures."""
        cuts: list[float] = []
        if self._last is not None and self._adaptive:
            for _ in range(_WINDOW):  # a still end, so that the last pictures are judged
                cuts += self._judge(self._times[-1] + 1e-3, self._last)
        return cuts + self._spacing.finish()

    def _judge(self, t_s: float, picture: Image) -> list[float]:
        self._times.append(t_s)
        label = FrameTimecode(Timecode(round(t_s / _MICRO), _MICRO), _RATE)
        cuts: list[float] = []
        for found in self._detector.process_frame(label, np.ascontiguousarray(picture)):
            seconds = found.seconds
            cuts += self._spacing.candidate(min(self._times, key=lambda t: abs(t - seconds)))
        return cuts + self._spacing.quiet(self._judged_s)
