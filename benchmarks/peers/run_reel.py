"""ReelDB's part: `way` is `frames` (a row a second, as the others have) or `scenes`."""

from __future__ import annotations

import os
from collections.abc import Sequence

import reeldb
from benchmarks.peers.step import AT_ONCE, LIMIT, MODEL, WANTED, WORDS, Job, run
from reeldb.database import Database

TIME = {"frames": "t_s", "scenes": "(start_s + end_s) / 2"}


def _open(job: Job) -> Database:
    os.environ["REELDB_CONFIG"] = str(job.work / "config.toml")
    return reeldb.open(job.work / "archive")


def index(job: Job) -> Sequence[float]:
    """Scenes, a picture a second, and their vectors by the built-in eyes."""
    (job.work / "config.toml").write_text(
        f'["openai:{MODEL}"]\nbase_url = "{job.url}"\nconcurrency = {AT_ONCE}\n'
    )
    with _open(job) as db:
        report = db.add(job.clip)
        if report.failed:
            raise SystemExit(str(report))
        for role in ("captioner", "vision"):
            db.set_model(role, f"openai:{MODEL}")
        rows = db.sql(f"SELECT {TIME[job.way]} FROM {job.way}").fetchall()
    return [float(t) for (t,) in rows]


def asked(job: Job) -> Sequence[float]:
    with _open(job) as db:
        rows = db.sql(
            f"SELECT {TIME[job.way]} FROM {job.way} WHERE caption ILIKE ? BUDGET 5000 CAPTIONS",
            [f"%{WORDS[job.step]}%"],
        )
        if rows.status != "complete":
            raise SystemExit(f"{rows.status}: {rows.stats}")
        return [float(t) for (t,) in rows.fetchall()]


def limit(job: Job) -> Sequence[float]:
    with _open(job) as db:
        rows = db.sql(
            f"SELECT {TIME[job.way]} FROM {job.way} WHERE matches(image, ?) LIMIT {LIMIT}",
            [f"there is a {WANTED}"],
        )
        return [float(t) for (t,) in rows.fetchall()]


if __name__ == "__main__":
    run(
        lambda: reeldb.__version__,
        {"index": index, "first": asked, "second": asked, "limit": limit},
    )
