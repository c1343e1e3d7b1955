"""A contestant's environment, and its steps as processes in it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.contestants import Contestant
from benchmarks.peers.server import Server
from benchmarks.peers.step import RESULT, Line
from benchmarks.peers.zoo import Zoo

ROOT = Path(__file__).parents[2]
STEP_LIMIT_S = 240
# The repository is looked in last: its folders have names that packages have too.
START = (
    "import runpy, sys; sys.path[:] = [p for p in sys.path if p]; sys.path.append({root!r}); "
    "runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Who runs, with which Python, on which clip, with which model, in which folder."""

    who: Contestant
    python: Path
    zoo: Zoo
    server: Server
    work: Path

    def clear(self) -> None:
        """An empty folder; a system's home in it, since what it keeps there is its index too."""
        self.stop()
        shutil.rmtree(self.work, ignore_errors=True)
        (self.work / "home").mkdir(parents=True)

    def stop(self) -> None:
        """Ends a PostgreSQL that a system started in the folder and left running."""
        for file in self.work.rglob("postmaster.pid"):
            with suppress(OSError, ValueError):
                os.kill(int(file.read_text().split()[0]), signal.SIGINT)

    def command(self, step: str) -> list[str]:
        start = START.format(root=str(ROOT), module=self.who.module)
        told = [str(self.zoo.path), str(self.work), self.server.url, self.who.way]
        return [str(self.python), "-c", start, step, *told]

    def environ(self) -> dict[str, str]:
        home, own = str(self.work / "home"), ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
        return {n: v for n, v in os.environ.items() if n not in own} | {
            "HOME": home,
            "XDG_CACHE_HOME": f"{home}/cache",
            "OPENAI_API_KEY": "none-needed",
            "OPENAI_BASE_URL": self.server.url,
        }


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


def run_step(place: Place, step: str) -> tuple[Line, int]:
    """Its line and exit status: one may have said its result and crashed while it ended.

    Raises RuntimeError, with the last line that it printed, where there is no result.
    """
    done = _run(place.command(step), STEP_LIMIT_S, env=place.environ(), cwd=place.work)
    lines = [t for t in done.stdout.splitlines() if t.startswith(RESULT)]
    if not lines:
        raise RuntimeError(_last(done))
    return Line(**json.loads(lines[-1][len(RESULT) :])), done.returncode


def kill_step(place: Place, step: str, calls: int) -> None:
    """Starts it and kills it once the model has had so many calls. Raises RuntimeError if it
    ends before."""
    process = subprocess.Popen(
        place.command(step), env=place.environ(), cwd=place.work, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until = time.monotonic() + STEP_LIMIT_S
    try:
        while place.server.calls < calls:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{place.server.calls} calls came, too few to be killed at")
            time.sleep(0.005)
    finally:
        process.kill()
        process.wait()


def short(text: str) -> str:
    """An error in one line that a table can hold."""
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:197]}..."


def _do(args: Sequence[str], limit_s: float) -> None:
    """Raises RuntimeError, with the last line that it printed, where it fails."""
    done = _run(args, limit_s)
    if done.returncode:
        raise RuntimeError(_last(done))


def _run(
    args: Sequence[str], limit_s: float, env: dict[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        args, capture_output=True, text=True, timeout=limit_s, env=env, cwd=cwd, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _last(done: subprocess.CompletedProcess[str]) -> str:
    said = (done.stderr.strip() or done.stdout.strip() or "it printed nothing").splitlines()
    return f"exit {done.returncode}: {said[-1]}"
