"""FiftyOne's part: a dataset of frames, captions in a field of it, a loop for the predicate.

It needs a MongoDB: the package downloads one while it is installed, or FIFTYONE_DATABASE_URI
names one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import fiftyone as fo
from fiftyone import ViewField

from benchmarks.peers.step import ASK, DESCRIBE, LIMIT, WORDS, Job, post, post_all, run

FPS = 25  # a frame knows its number, from one, and not its time


def index(job: Job) -> Sequence[float]:
    """A video, then a dataset of a picture a second, which are written as JPEG."""
    videos = fo.Dataset("videos", persistent=True)
    videos.add_sample(fo.Sample(filepath=str(job.clip)))
    view = videos.to_frames(sample_frames=True, fps=1, output_dir=str(job.work / "frames"))
    frames = view.clone("frames", persistent=True)
    return _times(frames)


def first(job: Job) -> Sequence[float]:
    frames = fo.load_dataset("frames")
    jpegs = [Path(p).read_bytes() for p in frames.values("filepath")]
    frames.set_values("caption", post_all(job.url, jpegs, DESCRIBE))
    return second(job)


def second(job: Job) -> Sequence[float]:
    frames = fo.load_dataset("frames")
    return _times(frames.match(ViewField("caption").contains_str(WORDS[job.step])))


def limit(job: Job) -> Sequence[float]:
    """Views know no model: the loop is the script's own, and so is its end."""
    found: list[float] = []
    for sample in fo.load_dataset("frames"):
        if post(job.url, Path(sample.filepath).read_bytes(), ASK) == "True":
            found.append((sample.frame_number - 1) / FPS)
            if len(found) == LIMIT:
                break
    return found


def _times(frames: fo.Dataset) -> list[float]:
    return [(n - 1) / FPS for n in frames.values("frame_number")]


if __name__ == "__main__":
    run(
        lambda: str(fo.__version__),
        {"index": index, "first": first, "second": second, "limit": limit},
    )
