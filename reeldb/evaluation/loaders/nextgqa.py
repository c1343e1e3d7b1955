"""NExT-GQA (Xiao et al. 2024): NExT-QA's questions with the spans that show the answer.

Written from `datasets/nextgqa/val.csv` and `gsub_val.json` of doc-doc/NExT-GQA at 8331fcce. The
spans lie beside the questions: `val.csv` and `gsub_val.json`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders.nextqa import read as read_nextqa
from reeldb.evaluation.loaders.rows import Row, json_by_name
from reeldb.schema.errors import EvaluationError


def read(file: Path) -> list[Question]:
    """A question a row. Raises EvaluationError where a question has no span."""
    prefix, _, split = file.stem.rpartition("_")
    name = f"{prefix}_gsub_{split}.json" if prefix else f"gsub_{split}.json"
    beside = file.with_name(name)
    videos = dict(json_by_name(beside))
    return [_grounded(q, videos, beside) for q in read_nextqa(file)]


def _grounded(asked: Question, videos: dict[str, Row], beside: Path) -> Question:
    if asked.video not in videos:
        raise EvaluationError(f"{beside}: no spans of the video {asked.video}")
    known = videos[asked.video]
    located = known.get("location")
    qid = asked.id.rpartition("_")[2]
    if not isinstance(located, dict) or qid not in located:
        raise known.wrong(f"no spans of the question {qid}")
    spans = Row(located, f"{known.where}, location").spans(qid)
    return replace(asked, spans=spans, duration_s=known.number("duration"))
