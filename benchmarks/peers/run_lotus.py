"""LOTUS' part: a DataFrame of pictures, its semantic operators, its cache in SQLite."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Otherwise it asks for a list of prices on the internet at every start.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import cv2
import lotus
import pandas as pd
from lotus.cache import CacheConfig, CacheFactory, CacheType
from lotus.dtype_extensions import ImageArray

from benchmarks.peers.step import (
    AT_ONCE,
    DESCRIBE,
    LIMIT,
    MODEL,
    WANTED,
    WORDS,
    Job,
    run,
)


def index(job: Job) -> Sequence[float]:
    """LOTUS knows no videos: a picture a second is written as JPEG by this script."""
    (job.work / "pictures").mkdir()
    video, n, times = cv2.VideoCapture(str(job.clip)), 0, []
    fps = video.get(cv2.CAP_PROP_FPS)
    while video.grab():
        if n % round(fps) == 0:
            cv2.imwrite(str(job.work / "pictures" / f"{n / fps:09.3f}.jpg"), video.retrieve()[1])
            times.append(n / fps)
        n += 1
    return times


def _frame(job: Job) -> Any:
    lotus.settings.configure(
        lm=lotus.models.LM(
            model=f"openai/{MODEL}",
            api_base=job.url,
            max_batch_size=AT_ONCE,
            cache=CacheFactory.create_cache(
                CacheConfig(CacheType.SQLITE, 100_000, cache_dir=str(job.work / "cache"))
            ),
        ),
        enable_cache=True,
    )
    paths = sorted((job.work / "pictures").iterdir())
    times = [float(Path(p).stem) for p in paths]
    return pd.DataFrame({"t_s": times, "picture": ImageArray([str(p) for p in paths])})


def asked(job: Job) -> Sequence[float]:
    captioned = _frame(job).sem_map(f"{DESCRIBE} {{picture}}", suffix="caption")
    rows = captioned[captioned.caption.str.contains(WORDS[job.step])]
    return [float(t) for t in rows.t_s]


def limit(job: Job) -> Sequence[float]:
    rows = _frame(job).sem_filter(f"there is a {WANTED} in {{picture}}").head(LIMIT)
    return [float(t) for t in rows.t_s]


if __name__ == "__main__":
    run(
        lambda: version("lotus-ai"),
        {"index": index, "first": asked, "second": asked, "limit": limit},
    )
