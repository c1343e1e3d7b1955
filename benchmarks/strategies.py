"""All strategies on made videos of three lengths, with models that tell the truth of what they
are shown: what is found, and what it costs.

    python -m benchmarks.strategies [--minutes 10 40 140] [--videos 6] [--questions 10]
                                    [--strategy S ...] [--keep FOLDER]

Each strategy has an archive of its own and asks `questions` about each video, then the same
again, then as many new ones, so that the cost of a question on known videos shows. Pictures are
embedded by what is true in them. Model seconds are those of the call graph, not slept: 0.2 s a
call, 16 at a time within a step of the trace. What FOLDER holds already is not run again.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import reeldb
from reeldb.database import Database
from reeldb.evaluation.benchmark import Folder, Question
from reeldb.evaluation.line import Line
from reeldb.evaluation.made.make import make
from reeldb.evaluation.run import run
from reeldb.evaluation.setting import Setting
from reeldb.evaluation.table import rows_of
from reeldb.models.registry import LOADERS

STRATEGIES = ("uniform", "topk(k => 32)", "dpp", "tree", "descent", "mapreduce",
              "recursive", "auto")  # fmt: skip
CALL_S, WIDE = 0.2, 16
ROUNDS = ("first", "again", "new")
HEAD = ("minutes", "strategy", "round", "accuracy", "95 %", "recall", "captions made", "reused",
        "calls", "pictures", "model s", "tokens")  # fmt: skip


@dataclass(frozen=True)
class Half:
    """Every other stretch of questions of a folder: those asked first, or the new ones."""

    folder: Folder
    each: int
    new: bool

    @property
    def name(self) -> str:
        return self.folder.name

    def questions(self) -> Sequence[Question]:
        asked = self.folder.questions()
        return [q for i, q in enumerate(asked) if (i % (2 * self.each) >= self.each) == self.new]

    def video(self, name: str) -> Path | None:
        return self.folder.video(name)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strategies")
    parser.add_argument("--minutes", type=float, nargs="+", default=[10.0, 40.0, 140.0])
    parser.add_argument("--videos", type=int, default=6)
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--strategy", nargs="+", default=list(STRATEGIES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="where videos, archives and answers stay")
    args = parser.parse_args()
    LOADERS["seeing"], LOADERS["seer"] = "tests.made_eyes:load", "tests.made_seer:load"
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    with tempfile.TemporaryDirectory() as place:
        for minutes in args.minutes:
            kept = (args.keep or Path(place)) / f"{minutes:g} min, {args.videos} videos"
            folder, archive = kept / "bench", kept / "archive"
            if not archive.exists():
                shutil.rmtree(folder, ignore_errors=True)
                make(folder, videos=args.videos, minutes=minutes, questions=2 * args.questions,
                     seed=args.seed)  # fmt: skip
                indexed(folder, kept / "unfinished").rename(archive)
            for strategy in args.strategy:
                for cells in rounds(folder, archive, strategy, args.questions):
                    print(f"| {minutes:g} | `{strategy}` | {' | '.join(cells)} |", flush=True)


def indexed(folder: Path, archive: Path) -> Path:
    """An archive of the benchmark's videos, whose models are the truthful ones."""
    shutil.rmtree(archive, ignore_errors=True)
    with reeldb.open(archive) as db:
        db.add(folder / "videos", embedder=f"seeing:{folder}")
        db.set_model("text_embedder", f"seeing:{folder}")
        for role in ("captioner", "chat", "vision"):
            db.set_model(role, f"seer:{folder}")
    return archive


def rounds(folder: Path, archive: Path, strategy: str, each: int) -> list[list[str]]:
    """A row of cells for each round."""
    from tests.made_seer import PICTURES

    own = archive.with_name(f"asked by {strategy}")
    finished = own / "cells.json"
    if not finished.exists():  # a half-asked archive knows captions that were not counted
        shutil.rmtree(own, ignore_errors=True)
        shutil.copytree(archive, own)
        out = []
        with reeldb.open(own) as db:
            for name in ROUNDS:
                PICTURES.clear()
                half = Half(Folder(folder), each, name == "new")
                lines = run(db, half, [Setting(strategy)], own / f"{name}.jsonl").lines
                out.append([name, *_cells(db, lines, sum(PICTURES.values()))])
        finished.write_text(json.dumps(out))
    cells: list[list[str]] = json.loads(finished.read_text())
    return cells


def _cells(db: Database, lines: Sequence[Line], pictures: int) -> list[str]:
    row = rows_of(lines)[0]
    assert row.accuracy is not None and row.low is not None and row.high is not None
    seconds = sum(_model_seconds(db, lines)) / len(lines)
    return [
        f"{row.accuracy:.0%}", f"{row.low:.0%}-{row.high:.0%}", f"{row.recall or 0:.0%}",
        f"{row.captions_made:.1f}", f"{row.captions_reused:.1f}", f"{row.calls:.1f}",
        f"{pictures / len(lines):.0f}", f"{seconds:.1f}", f"{row.tokens:,.0f}",
    ]  # fmt: skip


def _model_seconds(db: Database, lines: Sequence[Line]) -> list[float]:
    """What the calls of each answer would take: its trace is the call graph."""
    ids = {line.answer_id for line in lines}
    kept = db.archive.store.read("answers", ["id", "trace"]).to_pylist()
    traces = {a["id"]: json.loads(a["trace"]) for a in kept if a["id"] in ids}
    return [
        sum(CALL_S * math.ceil(step["calls"] / WIDE) for step in traces.get(i, [])) for i in ids
    ]


if __name__ == "__main__":
    main()
