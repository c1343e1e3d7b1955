"""Runs one contestant: a fresh process a step, in its own environment; counts and checks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.peers.contestants import Contestant
from benchmarks.peers.server import Server
from benchmarks.peers.step import LIMIT, RESULT, STEPS, WANTED, WORDS, Line
from benchmarks.peers.zoo import Zoo

ROOT = Path(__file__).parents[2]
STEP_LIMIT_S = 240
# The repository is looked in last: its folders have names that packages have too.
START = (
    "import runpy, sys; sys.path[:] = [p for p in sys.path if p]; sys.path.append({root!r}); "
    "runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
)


@dataclass(frozen=True, slots=True)
class Took:
    """One step of one run. `process_s` is the whole process, start-up included."""

    seconds: float
    process_s: float
    calls: int
    at_once: int
    found: int
    right: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of one contestant: its steps by name, or what went wrong in one line."""

    name: str
    version: str = ""
    steps: dict[str, Took] | None = None
    disk_bytes: int = 0
    error: str = ""

    def json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def read(line: str) -> Outcome:
        """The outcome of a line that `json` made."""
        data = json.loads(line)
        steps = data.pop("steps")
        return Outcome(
            steps={n: Took(**t) for n, t in steps.items()} if steps is not None else None, **data
        )


def measure(who: Contestant, python: Path, zoo: Zoo, server: Server, work: Path) -> Outcome:
    """All steps on a new folder; an error ends the run and is told."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "home").mkdir(parents=True)
    version, steps = "", {}
    for step in STEPS:
        server.taken()
        started = time.perf_counter()
        try:
            line = _line(_step(who, python, zoo, server, work, step))
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            return Outcome(who.name, version, error=f"{step}: {_short(str(e))}")
        process_s = time.perf_counter() - started
        calls, at_once = server.taken()
        found = line.found
        version = line.version
        steps[step] = Took(
            line.seconds, process_s, calls, at_once, len(found), right(zoo, step, found)
        )
    return Outcome(who.name, version, steps, disk(work))


def right(zoo: Zoo, step: str, found: Sequence[float]) -> int:
    """How many of the times found are right: show the animal that was asked for."""
    wanted = WORDS.get(step, WANTED)
    return sum(step == "index" or zoo.animal_at(t) == wanted for t in found)


def wanted(zoo: Zoo, step: str, rows: int) -> int:
    """How many rows a step should find, of a row a second."""
    if step == "index":
        return rows
    return min(LIMIT, len(zoo.times(WANTED))) if step == "limit" else len(zoo.times(WORDS[step]))


def disk(folder: Path) -> int:
    """Bytes on disk under a folder: blocks, so that a file with holes counts what it takes."""
    return sum(p.lstat().st_blocks * 512 for p in folder.rglob("*"))


def python_of(who: Contestant, venvs: Path) -> Path:
    """The contestant's Python; its environment is made if it is not there.

    Raises RuntimeError, with the installer's last line, where it cannot be made.
    """
    if not who.packages:
        return Path(sys.executable)
    python = venvs / who.system / "bin" / "python"
    done = venvs / who.system / "installed"
    if done.exists() and done.read_text() == "\n".join(who.packages):
        return python
    _do([sys.executable, "-m", "venv", str(venvs / who.system)], limit_s=120)
    _do([str(python), "-m", "pip", "install", "--quiet", *who.packages], limit_s=1200)
    done.write_text("\n".join(who.packages))
    return python


def _step(who: Contestant, python: Path, zoo: Zoo, server: Server, work: Path, step: str) -> str:
    start = START.format(root=str(ROOT), module=who.module)
    args = [str(zoo.path), str(work), server.url, who.way]
    # Whatever a system keeps in the user's home is part of its index: it gets a home of its own.
    home = str(work / "home")
    env = {
        n: v for n, v in os.environ.items() if n not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    }
    env |= {"HOME": home, "XDG_CACHE_HOME": f"{home}/cache", "OPENAI_API_KEY": "none-needed"}
    env |= {"OPENAI_BASE_URL": server.url}
    return _do([str(python), "-c", start, step, *args], STEP_LIMIT_S, env=env, cwd=work)


def _do(
    args: Sequence[str], limit_s: float, env: dict[str, str] | None = None, cwd: Path | None = None
) -> str:
    done = subprocess.run(
        args, capture_output=True, text=True, timeout=limit_s, env=env, cwd=cwd, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()
        raise RuntimeError(f"exit {done.returncode}: {said[-1]}")
    return done.stdout


def _line(printed: str) -> Line:
    lines = [t for t in printed.splitlines() if t.startswith(RESULT)]
    if not lines:
        raise RuntimeError("it printed no result")
    return Line(**json.loads(lines[-1][len(RESULT) :]))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:197]}..."
