"""Video-MME (Fu et al. 2024).

Written from `evaluation/output_test_template.json` of BradyFU/Video-MME at 8889f313 and at
5a90af9f (and the fields in its README at 07d72820), which nest questions in videos, and from
the columns of the Parquet file as lmms-lab/Video-MME's card lists them at ead1408f.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders.rows import LETTERS, Row, json_rows, parquet_rows

_LETTER = re.compile(r"\s*\(?([A-J])[.):]\s*")


def read(file: Path) -> list[Question]:
    """A question a row; kind is the task type. `more` has domain, sub-category and duration,
    which is short, medium or long. Videos are named by their YouTube id where it is given."""
    if file.suffix == ".parquet":
        return [_question(row, row) for row in parquet_rows(file)]
    return [_question(video, row) for video in json_rows(file) for row in video.rows("questions")]


def _question(video: Row, row: Row) -> Question:
    options = row.texts("options" if "options" in row.values else "choices")
    choices = tuple(unlettered(option, i) for i, option in enumerate(options))
    return Question(
        row.text("question_id"),
        _name(video),
        row.text("question"),
        row.letter(choices, row.text("answer")),
        choices,
        row.text("task_type"),
        more=video.rest(
            "duration", "duration_category", "domain", "video_category",
            "sub_category", "video_subcategory", "video_sub_category", "url",
        ),
    )  # fmt: skip


def unlettered(option: str, number: int) -> str:
    """
    >>> unlettered("B. Candles.", 1), unlettered("B. Candles.", 0)
    ('Candles.', 'B. Candles.')
    """
    found = _LETTER.match(option)
    return option[found.end() :] if found and found[1] == LETTERS[number] else option


def _name(video: Row) -> str:
    if video.values.get("videoID"):
        return video.text("videoID")
    link = urlsplit(str(video.values.get("url") or ""))
    linked = parse_qs(link.query).get("v") or [link.path.rpartition("/")[2]]
    return linked[0] or video.text("video_id")
