"""`reel eval make` and `reel eval run`: what they do; the command line prints what they say."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reeldb.evaluation.benchmark import Benchmark, Folder
from reeldb.schema.errors import EvaluationError

if TYPE_CHECKING:
    from reeldb.evaluation.run import Run
    from reeldb.evaluation.setting import Setting

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
    from reeldb.evaluation.table import columns_of, comparisons, rows_of

    folder = _folder(args)
    file = Path(args.answers) if args.answers else folder / "answers.jsonl"
    page = _page(args)
    done = _replayed(args, file) if args.replay else _run(args, folder, file, told)
    notes = [f"{what}: its questions were not asked" for what in done.missing]
    notes += [*done.notes, *comparisons(done.lines)]
    notes.append(f"{done.asked} asked, {len(done.lines) - done.asked} taken from {file}")
    if page is not None:
        _write(page, args, folder, done)
        notes.append(f"{page} written")
    rows = rows_of(done.lines)
    columns = columns_of(rows)
    return Said(notes, columns, [[getattr(r, c) for c in columns] for r in rows])


def _page(args: argparse.Namespace) -> Path | None:
    """Where the report goes. Raises EvaluationError before anything is paid for."""
    if args.report is None:
        return None
    page = Path(args.report)
    if page.is_dir() or not page.resolve().parent.is_dir():
        raise EvaluationError(f"{page}: name a file in a folder that is there")
    return page


def _write(page: Path, args: argparse.Namespace, folder: Path, done: Run) -> None:
    from datetime import UTC, datetime

    from reeldb import __version__
    from reeldb.evaluation.made.make import seed_of
    from reeldb.evaluation.report import page as pages

    try:
        benchmark = _benchmark(args)
        name, questions = benchmark.name, benchmark.questions()
    except EvaluationError:
        name, questions = folder.resolve().name, []
    about = pages.About(name, __version__, datetime.now(UTC), seed_of(folder), questions)
    page.write_text(pages.page(done, about), "utf-8")


def _run(args: argparse.Namespace, folder: Path, file: Path, told: Told) -> Run:
    from reeldb.database import open
    from reeldb.evaluation.run import run

    archive = args.archive or os.environ.get("REEL_ARCHIVE") or folder / "archive"
    with open(archive) as db:
        return run(db, _benchmark(args), _settings(args), file, told=told)


def _replayed(args: argparse.Namespace, file: Path) -> Run:
    """Goes without the questions too, where only the answers are left."""
    from reeldb.evaluation.replay import replay

    try:
        questions = _benchmark(args).questions()
    except EvaluationError as error:
        done = replay(file, None, _settings(args))
        why = f"{error}: which questions {file} lacks cannot be told"
        return dataclasses.replace(done, notes=(*done.notes, why))
    return replay(file, questions, _settings(args))


def _settings(args: argparse.Namespace) -> list[Setting]:
    """Every strategy with every budget and all models that are named."""
    from reeldb.evaluation.setting import Setting, models_of

    named = [models_of(text) for text in args.models or [""]]
    return [
        Setting(s, b, m) for m in named for s in args.strategy for b in args.budget or [""]
    ]  # fmt: skip


def _folder(args: argparse.Namespace) -> Path:
    place = Path(args.benchmark)
    return place if place.is_dir() else place.parent


def _benchmark(args: argparse.Namespace) -> Benchmark:
    if args.loader is None:
        return Folder(Path(args.benchmark))
    from reeldb.evaluation.loaders.published import load

    return load(args.loader, Path(args.benchmark), Path(args.videos) if args.videos else None)


COMMANDS: Mapping[str, Callable[[argparse.Namespace, Told], Said]] = {"make": make, "run": run}
