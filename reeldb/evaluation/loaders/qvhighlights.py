"""QVHighlights (Lei, Berg, Bansal 2021): the moments of a video that a sentence describes.

Written from `data/highlight_val_release.jsonl` of jayleicn/moment_detr at b7e553ac.
"""

from __future__ import annotations

from pathlib import Path

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders.rows import jsonl_rows


def read(file: Path) -> list[Question]:
    """A query a line; its spans are the answer (the test file has none). A video is a clip
    named `YOUTUBEID_start_end`, and times count from the clip's start."""
    return [
        Question(
            row.text("qid"),
            row.text("vid"),
            row.text("query"),
            "",
            kind="moment",
            spans=row.spans("relevant_windows") if "relevant_windows" in row.values else (),
            duration_s=row.number("duration"),
            more=row.rest("relevant_clip_ids", "saliency_scores"),
        )
        for row in jsonl_rows(file)
    ]
