"""LVBench (Wang et al. 2024).

The file, `video_info.meta.jsonl`, was not at hand. Written from the scripts that read it,
`scripts/construct_random_answers.py` and `save_video_txt.py` of THUDM/LVBench at dd7d99db, and
from `videomind/dataset/sub_classes/lvbench.py` of yeliudev/VideoMind (choices are lines of the
question, `(A) ...`; `time_reference` reads `00:15-00:19`).
"""

from __future__ import annotations

import re
from pathlib import Path

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders.rows import LETTERS, Row, jsonl_rows

_CHOICE = re.compile(r"^\s*\(([A-J])\)\s*", re.M)
_TIME = r"\d+(?::\d\d){1,2}"
_SPAN = re.compile(rf"({_TIME})\s*-\s*({_TIME})")


def read(file: Path) -> list[Question]:
    """A question an entry of a video's `qa`. Kind is the question types, joined by `+`; spans
    are the times of `time_reference` that can be read, and `more` has it as it is written."""
    return [_question(video, row) for video in jsonl_rows(file) for row in video.rows("qa")]


def _question(video: Row, row: Row) -> Question:
    asked, *parts = _CHOICE.split(row.text("question"))
    letters, choices = "".join(parts[::2]), tuple(p.strip() for p in parts[1::2])
    if not choices or letters != LETTERS[: len(choices)]:
        raise row.wrong(f"choices are lettered {letters!r}, not (A), (B), ... one a line")
    types = row.values.get("question_type") or []
    return Question(
        row.text("uid"),
        video.text("key"),
        asked.strip(),
        row.letter(choices, row.text("answer")),
        choices,
        "+".join([types] if isinstance(types, str) else types),
        spans(str(row.values.get("time_reference") or "")),
        more=row.rest("time_reference") | video.rest("type", "video_info"),
    )


def spans(reference: str) -> tuple[tuple[float, float], ...]:
    """
    >>> spans("00:15-00:19"), spans("at the end"), spans("00:19-00:15")
    (((15.0, 19.0),), (), ())
    """
    pairs = [(seconds(a), seconds(b)) for a, b in _SPAN.findall(reference)]
    return tuple((a, b) for a, b in pairs if a <= b)


def seconds(time: str) -> float:
    """
    >>> seconds("04:19"), seconds("1:02:03")
    (259.0, 3723.0)
    """
    total = 0.0
    for part in time.split(":"):
        total = total * 60 + float(part)
    return total
