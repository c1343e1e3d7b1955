"""Interleaved timing of whole processes and of functions."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """One run: wall and CPU seconds (user and system, children included)."""

    wall_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Timed:
    """The runs of one contestant."""

    name: str
    runs: tuple[Run, ...]

    @property
    def wall_s(self) -> float:
        return statistics.median(r.wall_s for r in self.runs)

    @property
    def cpu_s(self) -> float:
        return statistics.median(r.cpu_s for r in self.runs)


def command(args: Sequence[str], **more: str) -> Run:
    """Runs a command to its end. Raises CalledProcessError where it fails.

    It keeps its compiled modules as an installed program does, or a checkout would be compiled
    anew at each start while the libraries it is measured over are not.
    """
    kept = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(
        args,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=kept | more,
    )
    wall_s = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(wall_s, cpu_s)


def call(function: Callable[[], object]) -> Run:
    """Calls a function once."""
    cpu, started = time.process_time(), time.perf_counter()
    function()
    return Run(time.perf_counter() - started, time.process_time() - cpu)


def interleaved(
    contestants: Mapping[str, Callable[[], Run]], repeats: int, warm_up: int = 1
) -> dict[str, Timed]:
    """Runs all contestants in turn, `repeats` times after `warm_up` rounds that do not count."""
    runs: dict[str, list[Run]] = {name: [] for name in contestants}
    for round_ in range(warm_up + repeats):
        for name, contestant in contestants.items():
            run = contestant()
            if round_ >= warm_up:
                runs[name].append(run)
    return {name: Timed(name, tuple(r)) for name, r in runs.items()}
