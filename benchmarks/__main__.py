"""All benchmarks, one after the other, on one page: `make bench`.

    python -m benchmarks [--quick] [--only PART ...] [--film FILE] [--out FILE]

Every part runs in a process of its own and has a baseline in it. `--quick` shortens them to see
that they run; its figures mean little. `--film` is what `ingest` measures, else the clip that ships
with reeldb over and over: its pictures are small, so what is done once a picture weighs more. The
page is printed and written to `--out`, by default benchmarks/RESULTS.md for a whole run and nowhere
for a part of one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from benchmarks.machine import machine, today, versions
from benchmarks.page import page
from benchmarks.rows import Row

PARTS = ("start", "ingest", "shots", "search", "fill", "dense")
RESULTS = Path(__file__).with_name("RESULTS.md")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the parts; gives 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--quick", action="store_true", help="shorter, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--film", metavar="FILE", help="a video of yours for `ingest`")
    parser.add_argument("--out", type=Path, metavar="FILE")
    parser.add_argument("--rows-of", choices=PARTS, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.rows_of:
        film = {"film": args.film} if args.rows_of == "ingest" else {}
        for row in import_module(f"benchmarks.{args.rows_of}").rows(args.quick, **film):
            print(json.dumps(asdict(row)), flush=True)
        return 0
    measured_on = {"machine": machine(), "versions": versions(), "date": today()}
    parts: dict[str, list[Row]] = {}
    failed: dict[str, str] = {}
    for name in args.only:
        print(f"{name} ...", file=sys.stderr, flush=True)
        part = [sys.executable, "-m", "benchmarks", "--rows-of", name]
        part += ["--quick"] if args.quick else []
        part += ["--film", args.film] if args.film else []
        done = subprocess.run(part, check=False, capture_output=True, text=True)
        parts[name] = [Row(**json.loads(line)) for line in done.stdout.splitlines()]
        if done.returncode:
            failed[name] = (done.stderr.strip() or "no reason given").splitlines()[-1]
    text = page(parts, failed, **measured_on)
    print(text)
    whole = not args.quick and args.only == list(PARTS)
    out = args.out or (RESULTS if whole else None)
    if out is not None:
        out.write_text(text, encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
