"""Captions and calls of a question, over captioning every picture of the video beforehand.

A made video of ten minutes (`reel eval make`) is asked about with models that tell the truth of
what they are shown. Dense captioning, as most systems of the field begin, makes one caption for
every grid picture; each strategy asks in an archive of its own.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import reeldb
from benchmarks.rows import Row
from benchmarks.strategies import indexed
from reeldb.evaluation.benchmark import Folder
from reeldb.evaluation.made.make import make
from reeldb.evaluation.run import run
from reeldb.evaluation.setting import Setting
from reeldb.models.registry import LOADERS

STRATEGIES = ("topk(k => 32)", "dpp", "tree", "descent", "mapreduce")


def rows(quick: bool) -> Iterator[Row]:
    LOADERS["seeing"], LOADERS["seer"] = "tests.made_eyes:load", "tests.made_seer:load"
    minutes, asked = (2, 2) if quick else (10, 5)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "bench"
        make(folder, videos=1, minutes=minutes, questions=asked, seed=0)
        archive = indexed(folder, Path(place) / "archive")
        for strategy in STRATEGIES:
            copy = Path(place) / strategy
            shutil.copytree(archive, copy)
            with reeldb.open(copy) as db:
                lines = run(db, Folder(folder), [Setting(strategy)], copy / "answers.jsonl").lines
                grid = db.sql("SELECT count(*) FROM frames WHERE on_grid").fetchall()[0][0]
            assert isinstance(grid, int)
            calls = sum(x.calls for x in lines)
            right = sum(bool(x.right) for x in lines)
            note = f"{calls} calls, {right} of {len(lines)} right"
            what = f"model calls of {len(lines)} questions, `{strategy}`"
            yield Row(what, f"{grid} captions and a call each", calls / (grid + asked), note=note)
