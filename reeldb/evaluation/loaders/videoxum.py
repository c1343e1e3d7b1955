"""VideoXum (Lin et al. 2023): a summary in sentences, and ten people's choice of spans for it.

Written from the annotation sample in the README of jylins/videoxum at 11bd4fe3 and
`data/activitynet_dataset.py` at e14af338, which reads the file as a list of such objects.
"""

from __future__ import annotations

from pathlib import Path

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders.rows import Row, json_rows

ASKED = "Summarize the video."


def read(file: Path) -> list[Question]:
    """One question a video, the sentences of `tsum` in one paragraph the answer. `more` has
    them singly, and `vsum`: for each, the spans that each of ten people chose, in seconds."""
    return [_question(row) for row in json_rows(file)]


def _question(row: Row) -> Question:
    sentences = [s.strip() for s in row.texts("tsum")]
    spans = row.spans("timestamps")
    if len(spans) != len(sentences):
        raise row.wrong(f"{len(spans)} timestamps for {len(sentences)} sentences")
    video = row.text("video_id")
    return Question(
        video, video, ASKED, " ".join(sentences), kind="summary", spans=spans,
        duration_s=row.number("duration"),
        more={"sentences": sentences} | row.rest("vsum", "vsum_onehot", "sampled_frames"),
    )  # fmt: skip
