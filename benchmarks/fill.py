"""Lazy captions: speed of a fill, cost of what is cached, calls of a LIMIT, growth on disk.

The server is the one of the tests: it looks at every picture, counts, and answers after
0.2 s; the client is a process of its own. Baselines (a bare client that sends as many requests,
a DuckDB UDF, a plain Arrow table, one bulk load) are measured in the same run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np

import reeldb
from benchmarks.rows import Row
from benchmarks.timing import call, interleaved
from reeldb.database import Database
from reeldb.index.archive import Archive
from reeldb.index.compact import size
from reeldb.query.engine import Engine
from tests.archives import make_archive, synthetic_video
from tests.seeing import SeeingServer
from tests.timecode import stamped_clip

if TYPE_CHECKING:
    from reeldb.schema.models import Image

AT_ONCE, REPLY_S = 16, 0.2
FIRST = 64  # captions made before, so that rates are measured and imports done
CLIENT = """
import json, re, sys, time
import reeldb
db = reeldb.open(sys.argv[1])
first = int(sys.argv[2])
db.sql(f"SELECT caption FROM scenes WHERE scene_no < {first}").fetchall()
rest = f"SELECT caption FROM scenes WHERE scene_no >= {first} BUDGET 1000 CAPTIONS"
said = db.explain(rest)
started = time.perf_counter()
rows = db.sql(rest).fetchall()
print(json.dumps([time.perf_counter() - started, len(rows), said]))
"""
BARE = """
import http.client, json, sys, threading, time
host, port, n, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
body = json.dumps({"model": "seer", "messages": [{"role": "user", "content": "x" * 20000}]})
todo = iter(range(n)); lock = threading.Lock()
def run():
    c = http.client.HTTPConnection(host, port)
    while True:
        with lock:
            if next(todo, None) is None: return
        c.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        c.getresponse().read()
threads = [threading.Thread(target=run) for _ in range(at_once)]
started = time.perf_counter()
[t.start() for t in threads]; [t.join() for t in threads]
print(json.dumps(time.perf_counter() - started))
"""


class Blank:
    """A video file whose pictures are all black."""

    def __init__(self, path: str) -> None:
        self.path = path

    def at(self, times_s: Sequence[float], *, max_side: int | None = None) -> list[Image]:
        return [np.zeros((8, 8, 3), np.uint8) for _ in times_s]

    def __exit__(self, *_: object) -> None:
        pass


def child(code: str, *args: object) -> object:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, args)], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def throughput(place: Path, captions: int) -> tuple[float, float, float]:
    """Seconds that captions took at 0.2 s a reply, 16 at once; those of a bare client; and those
    that EXPLAIN expected."""
    colours = ("red", "white", "blue", "black", "green", "white", "magenta", "black")
    scenes = [(colours[i % 8], 2.0) for i in range(captions + FIRST)]
    clip = stamped_clip(place / "clip.mp4", 1, scenes)
    with SeeingServer() as server, reeldb.open(place / "archive") as db:
        server.latency_s = REPLY_S
        config = place / "config.toml"
        config.write_text(f'["openai:seer"]\nbase_url = "{server.url}"\nconcurrency = {AT_ONCE}\n')
        os.environ["REELDB_CONFIG"] = str(config)
        db.add(clip, embedder="none")
        db.set_model("captioner", "openai:seer")
        host, port = server.url.removeprefix("http://").removesuffix("/v1").split(":")
        bare_s = child(BARE, host, port, captions, AT_ONCE)
        server.requests.clear()
        found = child(CLIENT, db.path, FIRST)
        assert isinstance(bare_s, float) and isinstance(found, list)
        took_s, rows, said = found
        assert rows == captions and server.calls == captions + FIRST, (rows, server.calls)
    value, unit = re.findall(r"about ([\d.]+) (ms|s|min)", said)[-1]
    return took_s, bare_s, float(value) * {"ms": 0.001, "s": 1.0, "min": 60.0}[unit]


def throughputs(place: Path, captions: int, repeats: int) -> Iterator[Row]:
    """Medians of several archives, each filled once."""
    runs = []
    for n in range(repeats):
        (place / str(n)).mkdir()
        runs.append(throughput(place / str(n), captions))
    ideal_s = captions / AT_ONCE * REPLY_S
    took = sorted(t / ideal_s for t, _, _ in runs)
    expected = sorted(e / t for t, _, e in runs)
    note = f"a bare client {np.median([b for _, b, _ in runs]) / ideal_s:.2f}x"
    yield Row(f"{captions} captions by {AT_ONCE} at once", f"{ideal_s:g} s, the ideal",
              float(np.median(took)), "x", took[0], took[-1], at_most=1.2, note=note)  # fmt: skip
    yield Row("seconds that EXPLAIN expects", "those it took", float(np.median(expected)), "x",
              expected[0], expected[-1], at_least=0.5, at_most=2)  # fmt: skip


def made(place: Path, scenes: int, captioner: str) -> Database:
    """An archive without media, of videos of 500 scenes."""
    videos = [
        synthetic_video(f"v{n:03d}.mp4", [(2.0 * k, 2.0 * k + 2) for k in range(500)])
        for n in range(scenes // 500)
    ]
    make_archive(place, videos)
    db = reeldb.open(place)
    db.set_model("captioner", captioner)
    db.set_model("chat", "fake:chat?has=rabbit")
    return db


def engine(db: Database) -> Engine:
    return Engine(db.archive, db.models, Blank)


def cached(place: Path) -> Row:
    """A SELECT of captions that are all there, over the same SELECT in DuckDB."""
    db = made(place, 10_000, "fake:captioner?reply=A+man+walks+by,+scene+{n}&batch=1000")
    statement = "SELECT video, start_s, caption FROM scenes"
    engine(db).sql(f"{statement} BUDGET 10000 CAPTIONS")
    plain = duckdb.connect()
    plain.register("scenes", db.sql(statement).arrow())
    timed = interleaved(
        {
            "duckdb": lambda: call(lambda: plain.sql(statement).to_arrow_table()),
            "reel": lambda: call(lambda: db.sql(statement)),
        },
        25,
        warm_up=3,
    )
    reel_s, base_s = timed["reel"].wall_s, timed["duckdb"].wall_s
    return Row(
        "10,000 scenes with captions that are there, beyond", "twice the SELECT in DuckDB",
        (reel_s - 2 * base_s) * 1000, "ms", at_most=20, note=f"{reel_s / base_s:.1f}x in all",
    )  # fmt: skip


def limit(place: Path) -> Row:
    """Judgements until five rows are found, one in ten true, over a DuckDB UDF's calls."""
    replies = ["A+rabbit+sits,+{n}", *["A+man+walks+by,+{n}"] * 9]
    address = "fake:captioner?batch=1000&" + "&".join(f"reply={r}" for r in replies)
    db = made(place, 2_000, address)
    running = engine(db)
    running.sql("SELECT caption FROM scenes BUDGET 2000 CAPTIONS")
    db.set_model("captioner", address.replace("batch=1000", "batch=16"))  # the size of a wave
    running = engine(db)
    rows = running.sql("SELECT video, start_s, caption FROM scenes").arrow()
    statement = "SELECT video, start_s FROM scenes WHERE matches(caption, 'an animal sits') LIMIT 5"
    result = running.sql(statement)
    calls = [0]

    def judge(caption: str) -> bool:
        calls[0] += 1
        return "rabbit" in caption

    plain = duckdb.connect()
    plain.register("scenes", rows)
    plain.create_function("judge", judge)
    found = plain.sql("SELECT video, start_s FROM scenes WHERE judge(caption) LIMIT 5").fetchall()
    assert len(found) == len(result) == 5
    ours = int(result.stats["calls"])
    return Row(
        "calls of `matches ... LIMIT 5`, 2,000 scenes, one in ten true", "a DuckDB UDF",
        ours / calls[0], note=f"{ours} and {calls[0]:,} calls",
    )  # fmt: skip


def growth(place: Path, statements: int) -> Iterator[Row]:
    """Captions made one statement at a time, over one bulk load of as many."""
    captioner = "fake:captioner?reply=A+man+in+a+red+coat+walks+by+a+river,+scene+{n}&batch=5000"
    scenes = max(500, statements)
    at_once = made(place / "at once", scenes, captioner)
    every = f"SELECT caption FROM scenes BUDGET {statements} CAPTIONS"
    engine(at_once).sql(every)
    lazy = made(place / "lazily", scenes, captioner)
    running = engine(lazy)
    keys = running.sql("SELECT video_id, scene_no FROM scenes").fetchall()[:statements]
    one = "SELECT caption FROM scenes WHERE video_id = ? AND scene_no = ?"
    started, reads = time.perf_counter(), []
    for n, (video_id, scene_no) in enumerate(keys):
        running.sql(one, [video_id, scene_no])
        if n % 50 == 49:
            reads.append(call(lambda: running.sql(one, keys[0])).wall_s)
    each_ms = (time.perf_counter() - started) / statements * 1000
    bulk = size(at_once.archive)[0]
    after, quarter = size(lazy.archive)[0], max(1, len(reads) // 4)
    slower = np.median(reads[-quarter:]) / np.median(reads[:quarter])
    time.sleep(2.5)  # as long as readers may hold the last versions
    lazy.compact()
    small = size(Archive.open(lazy.path))[0]
    what, over = f"{statements:,} captions, one a statement", f"one bulk load, {bulk / 1e6:.2f} MB"
    yield Row(f"disk of {what}", over, after / bulk, at_most=3, note=f"{each_ms:.0f} ms each")
    yield Row("the same after `compact`", over, small / bulk, at_most=1.3)
    yield Row("a read at the end", "one at the beginning", float(slower), at_most=2)


def rows(quick: bool) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("throughput", "cached", "limit"):
            (place / name).mkdir()
        yield from throughputs(place / "throughput", *((48, 1) if quick else (400, 5)))
        yield cached(place / "cached")
        yield limit(place / "limit")
        yield from growth(place, 100 if quick else 5_000)
