"""What `reel add` costs over decoding the file once with ffmpeg, which is the least it can cost.

`python -m benchmarks.ingest FILE [REPEATS]`. All contestants are public commands, each a
fresh process with a fresh archive, run in turn. Wall time suffers from neighbours on the
machine; CPU seconds are the steadier figure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.timing import Run, Timed, command, interleaved, ratio

REPEATS = 3
REEL = [sys.executable, "-m", "reeldb"]
SCENEDETECT = [sys.executable, "-m", "scenedetect"]


def main(video: str, repeats: int = REPEATS) -> None:
    """Prints the ratios of one file."""
    with tempfile.TemporaryDirectory() as folder:
        timed = interleaved(_contestants(video, Path(folder)), repeats, warm_up=0)
        peak_mb = _peak_mb([*_add(video, Path(folder) / "peak")])
    base = timed["ffmpeg"]
    print(f"{Path(video).name}: ffmpeg decodes it in {base.wall_s:.1f} s, {base.cpu_s:.1f} CPU-s")
    for name, goal in (
        ("add", "at most 1.5x wall, 1.6x CPU"),
        ("add --embedder none", "at most 1.25x wall"),
        ("add --scan keyframes", ""),
        ("scenedetect", ""),
    ):
        if name in timed:
            _line(name, timed[name], base, goal)
    full, keys = timed["add"].wall_s, timed["add --scan keyframes"].wall_s
    print(f"keyframes over full: {full / keys:.1f}x faster (goal 6x)")
    if "scenedetect" in timed:
        print(f"add over scenedetect: {ratio(timed['add'], timed['scenedetect'])} (goal below 1x)")
    print(f"peak memory of add: {peak_mb:.0f} MB (goal below 1000)")


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


def _line(name: str, timed: Timed, base: Timed, goal: str) -> None:
    wall, cpu = ratio(timed, base), timed.cpu_s / base.cpu_s
    print(f"{name:22} {wall} wall, {cpu:.2f}x CPU" + (f"  ({goal})" if goal else ""))


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
    main(sys.argv[1], *map(int, sys.argv[2:3]))
