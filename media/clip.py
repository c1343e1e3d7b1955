"""A span of a video as a small file of its own: re-encoded, so that it begins and ends where
it should, whatever the keyframes of the original are."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.container import OutputContainer
from av.video.frame import VideoFrame

from reeldb.media.pictures import Pictures
from reeldb.media.sound import has_sound, sound
from reeldb.schema.errors import MediaError

if TYPE_CHECKING:
    from reeldb.schema.models import Sound

RATE = 48_000  # Hz, of the clip's sound, mono
MOST_FPS = 30
SIDE = 640  # pixels, the longest side of a clip
BATCH = 64  # pictures in memory at a time


def cut_clip(
    path: str | os.PathLike[str], start_s: float, end_s: float, out: Path, fps: float = 25.0
) -> Path:
    """Writes `[start_s, end_s)` of the video to `out`, an MP4: H.264, at most 640 pixels and 30
    pictures a second, with its sound as mono AAC where it has any. Gives `out`.

    Raises MediaError where the video cannot be read or `out` cannot be written.
    """
    heard = sound(path, start_s, end_s, RATE) if has_sound(path) else None
    rate = max(1, round(min(fps or MOST_FPS, MOST_FPS)))
    draft = out.with_name(f".{out.name}")
    try:
        with Pictures(path) as pictures, av.open(str(draft), "w", format="mp4") as container:
            _write(container, pictures, start_s, end_s, rate, heard)
        draft.replace(out)
    except (av.FFmpegError, OSError) as error:
        raise MediaError(f"{out}: cannot be written: {error}") from error
    finally:
        draft.unlink(missing_ok=True)
    return out


def _write(
    container: OutputContainer,
    pictures: Pictures,
    start_s: float,
    end_s: float,
    rate: int,
    heard: Sound | None,
) -> None:
    count = max(1, round((end_s - start_s) * rate))
    height, width = pictures.at([start_s], max_side=SIDE)[0].shape[:2]
    video = container.add_stream("libx264", rate=rate, options={"crf": "23", "preset": "veryfast"})
    video.width, video.height, video.pix_fmt = width - width % 2, height - height % 2, "yuv420p"
    audio = container.add_stream("aac", rate=RATE, layout="mono") if heard is not None else None
    for first in range(0, count, BATCH):
        times = [start_s + i / rate for i in range(first, min(first + BATCH, count))]
        for i, image in enumerate(pictures.at(times, max_side=SIDE), first):
            even = np.ascontiguousarray(image[: video.height, : video.width])
            frame = VideoFrame.from_ndarray(even, format="rgb24")
            frame.pts, frame.time_base = i, Fraction(1, rate)
            container.mux(video.encode(frame))
    container.mux(video.encode(None))
    if audio is not None and heard is not None:
        samples = AudioFrame.from_ndarray(heard.reshape(1, -1), format="fltp", layout="mono")
        samples.sample_rate, samples.pts = RATE, 0
        samples.time_base = Fraction(1, RATE)
        container.mux(audio.encode(samples))
        container.mux(audio.encode(None))
