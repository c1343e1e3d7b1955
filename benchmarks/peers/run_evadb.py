"""EvaDB's part: a loaded video, a function of one's own, a table of captions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import evadb

from benchmarks.peers.step import LIMIT, WORDS, Job, run

FUNCTIONS = Path(__file__).with_name("evadb_functions.py")
FPS = 25  # SAMPLE counts pictures, not seconds


def _rows(job: Job, *statements: str) -> Any:
    """Runs them; the DataFrame of the last."""
    cursor = evadb.connect(str(job.work / "evadb")).cursor()
    return [cursor.query(s).df() for s in statements][-1]


def _times(rows: Any) -> list[float]:
    return [float(i) / FPS for i in rows.iloc[:, 0]] if len(rows) else []


def index(job: Job) -> Sequence[float]:
    """The video, and the functions. EvaDB copies nothing and detects nothing."""
    rows = _rows(
        job,
        f"LOAD VIDEO '{job.clip}' INTO clip;",
        f"CREATE FUNCTION Caption IMPL '{FUNCTIONS}';",
        f"CREATE FUNCTION Judge IMPL '{FUNCTIONS}';",
        f"SELECT id FROM clip SAMPLE {FPS};",
    )
    return _times(rows)


def first(job: Job) -> Sequence[float]:
    # One that was killed leaves a table, and CREATE TABLE IF NOT EXISTS would be content with it.
    _rows(
        job,
        "DROP TABLE IF EXISTS captions;",
        f"CREATE TABLE captions AS SELECT id, Caption(data) FROM clip SAMPLE {FPS};",
    )
    return second(job)


def second(job: Job) -> Sequence[float]:
    """LIKE takes regular expressions, and does not take a function's result."""
    word = WORDS[job.step]
    return _times(_rows(job, f"SELECT id FROM captions WHERE caption LIKE '.*{word}.*';"))


def limit(job: Job) -> Sequence[float]:
    judged = f"SELECT id FROM clip SAMPLE {FPS} WHERE Judge(data).said = 'True' LIMIT {LIMIT};"
    return _times(_rows(job, judged))


if __name__ == "__main__":
    run(
        lambda: str(evadb.__version__),
        {"index": index, "first": first, "second": second, "limit": limit},
    )
