"""`reel fill`: captions and readings made ahead of any question, on the same ledger.

It runs the statements that a question would, over a stretch of scenes at a time, so it can be
interrupted, shares what is there, and its progress is that of the video.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reeldb.schema.errors import BindError, near

if TYPE_CHECKING:
    from reeldb.database import Database

STRETCH = 16  # scenes a statement
UNBOUNDED = 10**9  # asked for by name, so no default budget holds it back
IN_SCENES = (
    "EXISTS (SELECT 1 FROM scenes s WHERE s.video_id = x.video_id AND x.{at} >= s.start_s "
    "AND x.{at} < s.end_s AND s.video_id = $id AND s.scene_no >= $first AND s.scene_no < $end)"
)
WHAT = {
    "captions": "SELECT count(caption) FROM scenes WHERE video_id = $id "
    "AND scene_no >= $first AND scene_no < $end",
    "ocr": f"SELECT count(*) FROM ocr x WHERE x.video_id = $id AND {IN_SCENES.format(at='t_s')}",
    "objects": "SELECT count(*) FROM objects x WHERE x.video_id = $id "
    f"AND {IN_SCENES.format(at='t_s')}",
    "speech": "SELECT count(speech_text) FROM scenes WHERE video_id = $id "
    "AND scene_no >= $first AND scene_no < $end",
    "actions": "SELECT count(*) FROM actions x WHERE x.video_id = $id "
    f"AND {IN_SCENES.format(at='start_s')}",
}


@dataclass(slots=True)
class Filled:
    """What was made: captions, looks and calls of models, and what is worth knowing."""

    captions: int = 0
    looks: int = 0
    calls: int = 0
    notes: list[str] = field(default_factory=list)


def fill(
    db: Database,
    videos: Sequence[str],
    what: Sequence[str],
    progress: Callable[[str, float, float], None] | None = None,
) -> Filled:
    """Makes what is missing for these videos (ids); `progress` gets video, done, total scenes.

    Raises BindError for a kind that cannot be filled.
    """
    for kind in what:
        if kind not in WHAT:
            raise BindError(f"fill has no {kind!r}; {near(kind, WHAT)}")
    filled = Filled()
    for video_id in videos:
        rows = db.sql("SELECT video, scene_count FROM videos WHERE video_id = ?", [video_id])
        name, scenes = rows.fetchall()[0]
        for step, kind in enumerate(what):
            for first in range(0, scenes, STRETCH):
                _stretch(db, kind, video_id, first, filled)
                if progress is not None:
                    done = step * scenes + min(scenes, first + STRETCH)
                    progress(str(name), done, scenes * len(what))
    return filled


def _stretch(db: Database, kind: str, video_id: str, first: int, filled: Filled) -> None:
    result = db.engine.sql(
        WHAT[kind],
        {"id": video_id, "first": first, "end": first + STRETCH},
        budget={"calls": UNBOUNDED},
    )
    filled.captions += int(result.stats.get("captions_made", 0))
    filled.looks += int(result.stats.get("looks", 0))
    filled.calls += int(result.stats.get("calls", 0))
    filled.notes += [n for n in result.notes if n not in filled.notes]
