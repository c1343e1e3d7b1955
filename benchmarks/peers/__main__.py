"""ReelDB and other systems on one clip with one fake model.

    python -m benchmarks.peers [--venvs DIR] [--only NAME ...] [--out FILE]

Each system runs in a virtual environment of its own, `DIR/NAME`, made from the package registry
at the versions of `contestants.py` where it is missing. One that cannot be installed or that
fails has a row that says so, and the others go on. Writes benchmarks/PEERS.md, or FILE.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from benchmarks.peers.contestants import CONTESTANTS
from benchmarks.peers.measure import Outcome, interrupt, measure, wanted
from benchmarks.peers.page import Made, page
from benchmarks.peers.process import Place, python_of
from benchmarks.peers.server import Server
from benchmarks.peers.step import AT_ONCE, LIMIT, STEPS, WANTED
from benchmarks.peers.zoo import draw

OUT = Path(__file__).parents[1] / "PEERS.md"
VENVS = Path(tempfile.gettempdir()) / "reeldb-peers"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs them and writes the page; gives 1 if one of them failed."""
    systems = sorted({c.system for c in CONTESTANTS})
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--venvs", type=Path, default=VENVS)
    parser.add_argument("--only", nargs="+", choices=systems, default=systems)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--shots", type=int, default=150, help="of 2 s each; a multiple of ten")
    parser.add_argument("--latency-ms", type=float, default=50)
    args = parser.parse_args(argv)
    whom = [c for c in CONTESTANTS if c.system in args.only]
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory() as temporary, Server(args.latency_ms / 1000) as server:
        folder = Path(temporary)
        zoo = draw(folder / "zoo.mp4", shots=args.shots, shot_s=2.0)
        pythons: dict[str, Path] = {}
        for who in whom:
            try:
                pythons[who.system] = python_of(who, args.venvs)
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                outcomes.append(Outcome(who.name, error=f"install: {e}"))
        for repeat in range(args.repeats):
            for who in whom:
                if python := pythons.get(who.system):
                    at = Place(who, python, zoo, server, folder / "work")
                    outcome = measure(at)
                    if repeat == 0 and outcome.steps is not None:
                        half = outcome.steps["first"].calls // 2
                        outcome = replace(outcome, killed=interrupt(at, half))
                    print(f"run {repeat + 1}: {outcome.json()}", file=sys.stderr, flush=True)
                    outcomes.append(outcome)
        seconds = round(zoo.shots[-1][1])
        fewest = ([*zoo.times(WANTED)[:LIMIT], seconds - 1][LIMIT - 1 :] or [seconds - 1])[0] + 1
        steps = {s: wanted(zoo, s, seconds) for s in STEPS}
    made = Made(
        date.today().isoformat(),
        f"{os.cpu_count()} cores, Python {platform.python_version()}",
        seconds,
        args.shots,
        args.latency_ms / 1000,
        args.repeats,
        AT_ONCE,
        fewest,
        steps,
    )
    text = page(made, whom, outcomes)
    args.out.write_text(text, "utf-8")
    print(text)
    return 1 if any(o.error for o in outcomes) else 0


if __name__ == "__main__":
    raise SystemExit(main())
