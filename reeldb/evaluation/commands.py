"""`reel eval make` and `reel eval run`: what they do; the command line prints what they say."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reeldb.evaluation.benchmark import Benchmark, Folder

Told = Callable[[str, int, int], None]  # what, how many are done, of how many


@dataclass(frozen=True, slots=True)
class Said:
    """What a command comes to: lines for people, and a table if there is one."""

    notes: Sequence[str]
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()


def make(args: argparse.Namespace, told: Told) -> Said:
    from reeldb.evaluation.made.make import make

    asked = make(
        Path(args.folder),
        videos=args.videos,
        minutes=args.minutes,
        questions=args.questions,
        seed=args.seed,
        told=told,
    )
    return Said([f"{args.folder}: {args.videos} videos, {len(asked)} questions"])


def run(args: argparse.Namespace, told: Told) -> Said:
    """The archive is the one that is named, else `archive` in the benchmark's folder."""
    from reeldb.database import open
    from reeldb.evaluation.run import Setting, run
    from reeldb.evaluation.table import COLUMNS, comparisons, rows_of

    place = Path(args.benchmark)
    folder = place if place.is_dir() else place.parent
    settings = [Setting(s, b) for s in args.strategy for b in args.budget or [""]]
    archive = args.archive or os.environ.get("REEL_ARCHIVE") or folder / "archive"
    file = Path(args.answers) if args.answers else folder / "answers.jsonl"
    with open(archive) as db:
        done = run(db, _benchmark(args), settings, file, told=told)
    notes = [f"{what}: its questions were not asked" for what in done.missing]
    notes += comparisons(done.lines)
    notes.append(f"{done.asked} asked, {len(done.lines) - done.asked} taken from {file}")
    return Said(notes, COLUMNS, [[getattr(r, c) for c in COLUMNS] for r in rows_of(done.lines)])


def _benchmark(args: argparse.Namespace) -> Benchmark:
    if args.loader is None:
        return Folder(Path(args.benchmark))
    from reeldb.evaluation.loaders.published import load

    return load(args.loader, Path(args.benchmark), Path(args.videos) if args.videos else None)


COMMANDS: Mapping[str, Callable[[argparse.Namespace, Told], Said]] = {"make": make, "run": run}
