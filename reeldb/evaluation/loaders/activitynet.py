"""ActivityNet Captions (Krishna et al. 2017): events of a video, each a span and a sentence.

Written from `evaluate.py` of ranjaykrishna/densevid_eval at 1f0951c5 and a copy of `val_1.json`
(DaniCFraq/project-mpdw-2025 at c5096533). `val_1.json` and `val_2.json` are two people's
descriptions of the same videos.
"""

from __future__ import annotations

from pathlib import Path

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders.rows import Row, json_by_name

ASKED = "What happens in the video, event by event?"


def read(file: Path) -> list[Question]:
    """One question a video, its sentences in one paragraph the answer; `more` has them singly,
    in the order of the spans."""
    return [_question(video, row) for video, row in json_by_name(file)]


def _question(video: str, row: Row) -> Question:
    sentences = [s.strip() for s in row.texts("sentences")]
    spans = row.spans("timestamps")
    if len(spans) != len(sentences):
        raise row.wrong(f"{len(spans)} timestamps for {len(sentences)} sentences")
    return Question(
        video, video, ASKED, " ".join(sentences), kind="captions", spans=spans,
        duration_s=row.number("duration"), more={"sentences": sentences},
    )  # fmt: skip
