"""How long the command line takes to start, against what it cannot do without.

`reel --help` is measured over `python -c pass`, a first statement over importing the two
libraries that any statement needs.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import reeldb
from benchmarks.timing import command, interleaved, ratio
from reeldb.media.demo import demo_clip

REPEATS = 7
COUNT = "SELECT count(*) FROM scenes"


def main() -> None:
    """Prints the two figures."""
    with tempfile.TemporaryDirectory() as folder:
        archive = str(Path(folder) / "archive")
        reeldb.open(archive).add(demo_clip())
        python, reel = [sys.executable, "-c"], [sys.executable, "-m", "reeldb"]
        timed = interleaved(
            {
                "pass": lambda: command([*python, "pass"]),
                "help": lambda: command([*reel, "--help"]),
                "imports": lambda: command([*python, "import duckdb, lance"]),
                "count": lambda: command([*reel, "sql", COUNT, "--archive", archive]),
            },
            REPEATS,
        )
    extra = timed["help"].wall_s - timed["pass"].wall_s
    print(f"reel --help over python -c pass: +{extra:.3f} s (goal 0.25)")
    print(f"reel sql '{COUNT}' over import duckdb, lance: {ratio(timed['count'], timed['imports'])}"
          " (goal 1.5)")  # fmt: skip


if __name__ == "__main__":
    main()
