"""What `reel add` costs over decoding the file once with ffmpeg, which is the least it can cost.

`python -m benchmarks.ingest FILE [REPEATS]` measures a film of yours; `make bench` repeats the
clip that ships with reeldb until it is ten minutes long. All contestants are public commands, each
a fresh process with a fresh archive, run in turn. Wall time suffers from neighbours on the
machine; CPU seconds are the steadier figure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.page import table
from benchmarks.rows import Row, ratio
from benchmarks.timing import Run, command, interleaved
from reeldb.media.demo import demo_clip

REPEATS = 3
REEL = [sys.executable, "-m", "reeldb"]
SCENEDETECT = [sys.executable, "-m", "scenedetect"]


def rows(quick: bool, film: str | None = None) -> Iterator[Row]:
    if film is not None:
        yield from rows_of(film, 1 if quick else REPEATS)
        return
    with tempfile.TemporaryDirectory() as folder:
        looped = Path(folder) / "demo clip, ten times.mp4"
        again = "1" if quick else "9"
        subprocess.run(
            ["ffmpeg", "-v", "error", "-stream_loop", again, "-i", str(demo_clip()),
             "-map", "0:v:0", "-c", "copy", str(looped)],
            check=True,
        )  # fmt: skip
        yield from rows_of(str(looped), 1 if quick else REPEATS)


def rows_of(video: str, repeats: int) -> Iterator[Row]:
    """The figures of one file."""
    with tempfile.TemporaryDirectory() as folder:
        timed = interleaved(_contestants(video, Path(folder)), repeats, warm_up=0)
        peak_mb = _peak_mb([*_add(video, Path(folder) / "peak")])
    base, over = timed["ffmpeg"], "ffmpeg decodes"
    note = f"{Path(video).name}; ffmpeg {base.wall_s:.1f} s, {base.cpu_s:.1f} CPU-s"
    yield ratio("`reel add`", over, timed["add"], base, at_most=1.5, note=note)
    cpu = timed["add"].cpu_s / base.cpu_s
    yield Row("`reel add`, CPU", f"{over}, CPU", cpu, at_most=1.6)
    bare = timed["add --embedder none"]
    yield ratio("`reel add --embedder none`", over, bare, base, at_most=1.25)
    full, keys = timed["add"], timed["add --scan keyframes"]
    yield ratio("`reel add`", "`reel add --scan keyframes`", full, keys, at_least=6)
    detected = timed["scenedetect"]
    yield ratio("`reel add`", "`scenedetect detect-content`", full, detected, at_most=1)
    yield Row("`reel add`, most memory", "", peak_mb, "MB", at_most=1000)


def _contestants(video: str, folder: Path) -> dict[str, Callable[[], Run]]:
    def add(*options: str) -> Run:
        archive = folder / "archive"
        run = command(_add(video, archive, *options))
        shutil.rmtree(archive)
        return run

    ffmpeg = ["ffmpeg", "-v", "error", "-i", video, "-map", "0:v:0", "-f", "null", "-"]
    contestants: dict[str, Callable[[], Run]] = {
        "ffmpeg": lambda: command(ffmpeg),
        "add": add,
        "add --embedder none": lambda: add("--embedder", "none"),
        "add --scan keyframes": lambda: add("--scan", "keyframes"),
        "scenedetect": lambda: command(
            [*SCENEDETECT, "-i", video, "detect-content", "list-scenes", "-n"]
        ),
    }
    return contestants


def _add(video: str, archive: Path, *options: str) -> list[str]:
    return [*REEL, "add", "--archive", str(archive), *options, "--", video]


def _peak_mb(args: list[str]) -> float:
    """The most memory that one run of the command held, in MB."""
    process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, args)
    return usage.ru_maxrss / 1024


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    print(table(list(rows_of(sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else REPEATS))))
