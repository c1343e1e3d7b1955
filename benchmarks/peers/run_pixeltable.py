"""Pixeltable's part: a view of frames, computed columns by its own OpenAI function."""

from __future__ import annotations

from collections.abc import Sequence

import pixeltable as pxt
from pixeltable.functions import openai
from pixeltable.functions.video import frame_iterator

from benchmarks.peers.step import ASK, DESCRIBE, LIMIT, MODEL, WORDS, Job, run


def index(job: Job) -> Sequence[float]:
    """A table with the clip, and a view with a picture a second."""
    # 600 requests a minute unless one says otherwise.
    config = job.work / "home" / ".pixeltable" / "config.toml"
    config.parent.mkdir()
    config.write_text(
        f"[pixeltable]\nfile_cache_size_g = 1\n[openai.rate_limits]\n{MODEL} = 1000000\n"
    )
    clips = pxt.create_table("clips", {"video": pxt.Video})
    frames = pxt.create_view("frames", clips, iterator=frame_iterator(clips.video, fps=1))
    clips.insert([{"video": str(job.clip)}])
    return [float(r["pos"]) for r in frames.select(frames.pos).collect()]


def first(job: Job) -> Sequence[float]:
    frames = pxt.get_table("frames")
    frames.add_computed_column(caption=openai.vision(DESCRIBE, frames.frame, model=MODEL))
    return second(job)


def second(job: Job) -> Sequence[float]:
    frames = pxt.get_table("frames")
    rows = frames.where(frames.caption.contains(WORDS[job.step])).select(frames.pos).collect()
    return [float(r["pos"]) for r in rows]


def limit(job: Job) -> Sequence[float]:
    frames = pxt.get_table("frames")
    said = openai.vision(ASK, frames.frame, model=MODEL)
    rows = frames.where(said == "True").select(frames.pos).limit(LIMIT).collect()
    return [float(r["pos"]) for r in rows]


if __name__ == "__main__":
    run(
        lambda: str(pxt.__version__),
        {"index": index, "first": first, "second": second, "limit": limit},
    )
