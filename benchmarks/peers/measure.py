"""What a contestant's steps take, how often the model is called, whether their rows are right."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.peers.process import Place, kill_step, run_step, short
from benchmarks.peers.step import LIMIT, STEPS, WANTED, WORDS
from benchmarks.peers.zoo import Zoo


@dataclass(frozen=True, slots=True)
class Took:
    """One step of one run. `process_s` is the whole process, start-up included; `status` its exit
    status, negative for a signal, after it had given its result."""

    seconds: float
    process_s: float
    calls: int
    at_once: int
    found: int
    right: int
    status: int = 0


@dataclass(frozen=True, slots=True)
class Killed:
    """The first question, killed when half its calls were made, then asked again.

    `calls` are those of both processes together; `error` is what the second one said.
    """

    calls: int
    found: int
    right: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of one contestant: its steps by name, or what went wrong in one line."""

    name: str
    version: str = ""
    steps: dict[str, Took] | None = None
    disk_bytes: int = 0
    error: str = ""
    killed: Killed | None = None

    def json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def read(line: str) -> Outcome:
        """The outcome of a line that `json` made."""
        data = json.loads(line)
        steps, killed = data.pop("steps"), data.pop("killed")
        return Outcome(
            steps={n: Took(**t) for n, t in steps.items()} if steps is not None else None,
            killed=Killed(**killed) if killed is not None else None,
            **data,
        )


def measure(place: Place) -> Outcome:
    """All steps on a new folder; an error ends the run and is told."""
    place.clear()
    name, version, steps = place.who.name, "", {}
    for step in STEPS:
        place.server.taken()
        started = time.perf_counter()
        try:
            line, status = run_step(place, step)
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            return Outcome(name, version, error=f"{step}: {short(str(e))}")
        process_s = time.perf_counter() - started
        calls, at_once = place.server.taken()
        found, version = line.found, line.version
        good = right(place.zoo, step, found)
        steps[step] = Took(line.seconds, process_s, calls, at_once, len(found), good, status)
    place.stop()
    return Outcome(name, version, steps, disk(place.work))


def interrupt(place: Place, calls: int) -> Killed:
    """A new folder, whose first question is killed after so many calls, and asked once more."""
    place.clear()
    try:
        run_step(place, "index")
        place.server.taken()
        kill_step(place, "first", calls)
        line, _ = run_step(place, "first")
    except (RuntimeError, subprocess.TimeoutExpired) as e:
        return Killed(place.server.taken()[0], 0, 0, short(str(e)))
    finally:
        place.stop()
    found = line.found
    return Killed(place.server.taken()[0], len(found), right(place.zoo, "first", found))


def right(zoo: Zoo, step: str, found: Sequence[float]) -> int:
    """How many of the times found are right: show the animal that was asked for."""
    wanted = WORDS.get(step, WANTED)
    return sum(step == "index" or zoo.animal_at(t) == wanted for t in found)


def wanted(zoo: Zoo, step: str, rows: int) -> int:
    """How many rows a step should find, of a row a second."""
    if step == "index":
        return rows
    return len(zoo.times(WORDS[step])) if step in WORDS else min(LIMIT, len(zoo.times(WANTED)))


def disk(folder: Path) -> int:
    """Bytes on disk under a folder: blocks, so that a file with holes counts what it takes."""
    return sum(p.lstat().st_blocks * 512 for p in folder.rglob("*"))
