"""Thirty questions about ten real videos, through every strategy, with the built-in models.

    python -m benchmarks.real FOLDER [--archive DIR]

`questions.jsonl` names the videos, and what is seen, written or said in them; FOLDER holds them.
Prints hits and misses by kind, whether the evidence overlaps the seconds where one sees the answer,
and who judged; then every question with what each strategy chose. DIR may be an archive in which
on-screen text was read beforehand (`reel fill --ocr`).
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import reeldb
from reeldb.evaluation.benchmark import Folder, Question
from reeldb.evaluation.line import Line
from reeldb.evaluation.run import run
from reeldb.evaluation.setting import Setting

STRATEGIES = ("uniform", "topk", "dpp", "tree", "descent", "mapreduce", "recursive", "auto")
KINDS = ("seen", "written", "said")


@dataclass(frozen=True)
class Real:
    """The questions that lie here, about videos that lie elsewhere."""

    videos: Path
    name: str = "real"

    def questions(self) -> Sequence[Question]:
        return Folder(Path(__file__).parent).questions()

    def video(self, name: str) -> Path | None:
        path = self.videos / name
        return path if path.is_file() else None


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--strategy", nargs="+", default=list(STRATEGIES))
    parser.add_argument("--archive", type=Path)
    args = parser.parse_args()
    real = Real(args.folder)
    with (
        tempfile.TemporaryDirectory() as place,
        reeldb.open(args.archive or Path(place) / "archive") as db,
    ):
        settings = [Setting(s) for s in args.strategy]
        done = run(db, real, settings, Path(place) / "answers.jsonl")
    for what in done.missing:
        print(f"{what}: its questions were not asked")
    asked = {q.id: q for q in real.questions() if any(x.question == q.id for x in done.lines)}
    guessed = sum(1 / len(q.choices) for q in asked.values())
    print(f"{len(asked)} questions; guessing gives {guessed:.1f}\n")
    print(f"| strategy | right | {' | '.join(KINDS)} | evidence in place | calls | s | judged by |")
    print("|---" * (6 + len(KINDS)) + "|")
    for setting in settings:
        print(_row([x for x in done.lines if x.strategy == setting.strategy]))
    print(f"\n| question | right | {' | '.join(args.strategy)} |")
    print("|---" * (2 + len(args.strategy)) + "|")
    for question in asked.values():
        said = {x.strategy: x.answer or x.status for x in done.lines if x.question == question.id}
        cells = ["right" if said[s] == question.answer else said[s] for s in args.strategy]
        print(f"| {question.question} | {question.answer} | {' | '.join(cells)} |")


def _row(lines: Sequence[Line]) -> str:
    right = [sum(bool(x.right) for x in lines if x.kind == k) for k in KINDS]
    of = [sum(x.kind == k for x in lines) for k in KINDS]
    shares = [f"{a} of {b}" for a, b in zip(right, of, strict=True)]
    placed = sum((x.recall or 0) > 0 for x in lines)
    calls = sum(x.calls for x in lines) / len(lines)
    seconds = sum(x.seconds for x in lines) / len(lines)
    judges = Counter(x.reasoner or x.status for x in lines)
    said = ", ".join(f"{who} {n}" for who, n in judges.most_common())
    cells = [f"`{lines[0].strategy}`", f"{sum(right)} of {len(lines)}", *shares,
             f"{placed} of {len(lines)}", f"{calls:.1f}", f"{seconds:.1f}", said]  # fmt: skip
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
