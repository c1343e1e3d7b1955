"""Other processes for tests of crowds and kills: real ones, with a real archive."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def start(code: str, *args: object) -> subprocess.Popen[str]:
    """A Python process that runs `code` with `args` in sys.argv; its output can be read."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        cwd=ROOT,
        env=env,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[str], timeout_s: float = 60.0) -> str:
    """What the process printed; fails where it failed, or said anything on stderr."""
    out, errors = process.communicate(timeout=timeout_s)
    assert (process.returncode, errors) == (0, "")
    return out
