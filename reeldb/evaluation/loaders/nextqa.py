"""NExT-QA, multiple choice (Xiao et al. 2021).

Written from `datasets/nextqa/val.csv` of doc-doc/NExT-GQA at 38246599 (the answer is a text)
and `dataset/nextqa/val.csv` of doc-doc/NExT-QA at f2dafbf6 (the answer is a number).
"""

from __future__ import annotations

from pathlib import Path

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders.rows import Row, csv_rows


def read(file: Path) -> list[Question]:
    """A question a row, its id `video_qid` as the official scripts have it; kind is the type:
    CW, CH (causal), TC, TN, TP (temporal), DC, DL, DO (descriptive)."""
    rows = list(csv_rows(file))
    numbered = all(row.text("answer").isdigit() for row in rows)
    return [_question(row, numbered) for row in rows]


def _question(row: Row, numbered: bool) -> Question:
    """A row with the columns video_id, question, answer, qid, type, a0 to a4."""
    choices = tuple(row.text(f"a{i}") for i in range(5))
    answer = row.choice(choices, row.get("answer")) if numbered else row.text("answer")
    if answer not in choices:
        raise row.wrong(f"the answer {answer!r} is none of a0 to a4")
    video = row.text("video_id")
    return Question(
        f"{video}_{row.text('qid')}",
        video,
        row.text("question"),
        answer,
        choices,
        row.text("type"),
        more=row.rest("frame_count", "width", "height", "action", "lemma", "lemma_id"),
    )
