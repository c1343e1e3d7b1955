"""MLVU, development set (Zhou et al. 2024): a JSON file a task, `json/1_plotQA.json` and so on.

The files were not at hand. Written from `videochat2/choice_bench.py` of JUNJIE99/MLVU at
0b16f40f, `mlvu.py` of yeliudev/VideoMind (which video lies where) and quoted rows of each task.
The test set's files were not seen and are not read.
"""

from __future__ import annotations

from pathlib import Path

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders.rows import Row, json_rows
from reeldb.schema.errors import EvaluationError


def read(path: Path) -> list[Question]:
    """Of a folder, every task's file in it. A question's id is its file and its place in it;
    its video lies in a folder named as the file. Tasks without choices (`subPlot`, `summary`)
    have a text as answer, and `more` has the scoring points of sub-plots."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise EvaluationError(f"{path}: no task files such as 1_plotQA.json")
    return [_question(f.stem, n, row) for f in files for n, row in enumerate(json_rows(f))]


def _question(task: str, number: int, row: Row) -> Question:
    choices = row.texts("candidates") if "candidates" in row.values else ()
    answer = row.text("answer")
    if choices and answer not in choices:
        raise row.wrong(f"the answer {answer!r} is none of the candidates")
    return Question(
        f"{task}-{number}",
        f"{task}/{row.text('video')}",
        row.text("question"),
        answer,
        choices,
        row.text("question_type"),
        duration_s=row.number("duration"),
        more=row.rest("scoring_points"),
    )
