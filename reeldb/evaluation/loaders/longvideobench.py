"""LongVideoBench (Wu et al. 2024).

Written from `longvideobench/longvideobench_dataset.py` of longvideobench/LongVideoBench at
2aa4f91a and a copy of `lvb_val.json` (lwpyh/answer-entropy-zoom at e00fa4b7); the Parquet
columns as the card of longvideobench/LongVideoBench-Meta lists them.
"""

from __future__ import annotations

from pathlib import Path

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders.rows import Row, json_rows, parquet_rows

NO_OPTION = "N/A"


def read(file: Path) -> list[Question]:
    """A question a row, those of the test set without answers; kind is the question category.

    `position` stays in `more`: picture numbers of an unnamed rate are no times.
    """
    rows = parquet_rows(file) if file.suffix == ".parquet" else json_rows(file)
    return [_question(row) for row in rows]


def _question(row: Row) -> Question:
    choices = row.texts("candidates") if "candidates" in row.values else _options(row)
    right = row.values.get("correct_choice")
    withheld = right is None or right == -1
    return Question(
        row.text("id"),
        row.text("video_path"),
        row.text("question"),
        "" if withheld else row.choice(choices, right),
        choices,
        row.text("question_category"),
        duration_s=row.number("duration"),
        more=row.rest(
            "duration_group", "topic_category", "level", "position", "subtitle_path",
            "starting_timestamp_for_subtitles",
        ),
    )  # fmt: skip


def _options(row: Row) -> tuple[str, ...]:
    options = [row.text(f"option{i}") for i in range(5)]
    return tuple(o for o in options if o != NO_OPTION)
