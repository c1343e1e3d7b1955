"""A script as a video file."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.stream import VideoStream

from reeldb.evaluation.made.drawing import moment
from reeldb.evaluation.made.script import Script
from reeldb.evaluation.timecode import Picture, stamped

SIZE, FPS = (320, 180), 2
_GOP = 40  # pictures from one key picture to the next


def write_video(
    path: Path, script: Script, code: int, *, size: tuple[int, int] = SIZE, fps: int = FPS
) -> None:
    """H.264 in MP4, every picture stamped with `code` and its time."""
    with av.open(str(path), "w") as out:
        options = {"preset": "ultrafast", "tune": "zerolatency", "crf": "26"}
        stream = out.add_stream("libx264", rate=Fraction(fps), options=options)
        assert isinstance(stream, VideoStream)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.codec_context.gop_size = _GOP
        stream.codec_context.thread_count = 1  # the same bytes on every machine
        for number, picture in enumerate(pictures(script, size, fps)):
            frame = av.VideoFrame.from_ndarray(stamped(picture, code, number / fps), "rgb24")
            frame.pts, frame.time_base = number, Fraction(1, fps)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))


def pictures(script: Script, size: tuple[int, int] = SIZE, fps: int = FPS) -> Iterator[Picture]:
    """Every picture of the script, in order, without its stamp."""
    for scene in script.scenes:
        acts = [f for f in script.actions if scene.start_s <= f.start_s < scene.end_s]
        for number in np.arange(round(scene.start_s * fps), round(scene.end_s * fps)):
            t_s = float(number) / fps
            now = [f for f in acts if f.start_s <= t_s < f.end_s]
            yield moment(scene, now, t_s, size)
