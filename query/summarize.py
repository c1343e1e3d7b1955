"""SUMMARIZE: a question about one whole video, answered by its summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reeldb.query.ask import Question
from reeldb.query.prompts.summing import SUMMARY

if TYPE_CHECKING:
    from reeldb.query.engine import Engine

DEFAULT = "recursive"


def summary_of(
    engine: Engine,
    video: str,
    strategy: str = DEFAULT,
    options: Mapping[str, object] | None = None,
    budget: Mapping[str, float] | None = None,
    statement: str = "",
) -> Question:
    """The question that a summary of this video (name or id) answers. It is kept in `answers`
    with the statement, so `WHERE statement LIKE 'SUMMARIZE%'` lists summaries.

    Raises BindError where there is no such video.
    """
    video_id = engine.archive.snapshot().find_video(video)
    said = video.replace("'", "''")
    return Question(
        text=SUMMARY,
        videos=(video_id,),
        strategy=DEFAULT if strategy == "auto" else strategy,
        options=dict(options or {}),
        budget=dict(budget or {}),
        statement=statement or f"SUMMARIZE VIDEO '{said}'",
        summary=True,
    )
