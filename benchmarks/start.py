"""How long the command line takes to start, against what it cannot do without.

`reel --help` is measured over `python -c pass`, a first statement over importing the two
libraries that any statement needs. pandas is hidden from both: reeldb does without it, and the
two libraries import it where it happens to be installed.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import reeldb
from benchmarks.rows import Row, ratio
from benchmarks.timing import command, interleaved
from reeldb.media.demo import demo_clip

COUNT = "SELECT count(*) FROM scenes"
HIDDEN = "raise ImportError('hidden')\n"


def rows(quick: bool) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        archive = str(Path(folder) / "archive")
        reeldb.open(archive).add(demo_clip())
        hidden = Path(folder) / "hidden"
        hidden.mkdir()
        (hidden / "pandas.py").write_text(HIDDEN, encoding="utf-8")
        path = os.pathsep.join([str(hidden), *filter(None, [os.environ.get("PYTHONPATH")])])
        python, reel = [sys.executable, "-c"], [sys.executable, "-m", "reeldb"]
        count = [*reel, "sql", COUNT, "--archive", archive]
        timed = interleaved(
            {
                "pass": lambda: command([*python, "pass"], PYTHONPATH=path),
                "help": lambda: command([*reel, "--help"], PYTHONPATH=path),
                "imports": lambda: command([*python, "import duckdb, lance"], PYTHONPATH=path),
                "count": lambda: command(count, PYTHONPATH=path),
            },
            3 if quick else 15,
        )
    extra_ms = (timed["help"].wall_s - timed["pass"].wall_s) * 1000
    yield Row("`reel --help`, beyond", "`python -c pass`", extra_ms, "ms", at_most=250)
    yield ratio(
        f"`reel sql '{COUNT}'`", "`import duckdb, lance`",
        timed["count"], timed["imports"], at_most=1.5,
    )  # fmt: skip
