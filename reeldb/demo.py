"""`reel demo`: the main job on the clip that ships with reeldb, offline, in about a minute."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from reeldb.database import open
from reeldb.render import escaped, table
from reeldb.schema.spans import clock

if TYPE_CHECKING:
    from reeldb.database import Database

ARCHIVE = "reel-demo-archive"

STATEMENTS = (
    (
        "A word seen on screen. Only the pictures of the first ten seconds are read.",
        "SELECT video, t_s, text, confidence FROM ocr\n"
        "WHERE t_s < 10 AND replace(text, ' ', '') ILIKE '%PEACH%' ORDER BY t_s LIMIT 3",
    ),
    (
        "A thing seen. The built-in eyes know things and places of ImageNet, roughly.",
        "SELECT video, t_s, scene_no, similarity(image, 'a meadow') AS score\n"
        "FROM frames ORDER BY score DESC LIMIT 3",
    ),
    (
        "A time relation: the scenes within 5 s after that text, with captions made on demand.",
        "SELECT DISTINCT s.scene_no, s.start_s, s.end_s, s.caption FROM scenes s JOIN ocr o\n"
        "ON within(o, s, 5) AND after(s, o)\n"
        "WHERE o.t_s < 10 AND replace(o.text, ' ', '') ILIKE '%PEACH%' ORDER BY s.scene_no LIMIT 3",
    ),
)
QUESTION = "what animal comes out of the burrow?"
CHOICES = ("a rabbit", "a fish")


def demo(archive: str | Path | None = None) -> Iterator[str]:
    """The demo's output, part by part, as it comes."""
    from reeldb.media.demo import demo_clip

    place = Path(archive or os.environ.get("REEL_ARCHIVE") or ARCHIVE)
    with open(place) as db:
        clip = demo_clip()
        yield f"$ reel add {clip.name}    (Big Buck Bunny, (c) 2008 Blender Foundation, CC-BY 3.0)"
        report = db.add(clip)
        yield f"  {report.summary()}"
        for about, statement in STATEMENTS:
            yield f"\n-- {about}"
            yield from _sql(db, statement)
        yield "\n-- A question with evidence."
        yield from _ask(db)
        yield f"\nThe archive is {place}. Ask it more:  reel sql --archive {place} 'SHOW TABLES'"


def _sql(db: Database, statement: str) -> Iterator[str]:
    yield "$ reel sql " + '"' + statement.replace("\n", "\n    ") + '"'
    result = db.sql(statement)
    yield table(result.columns, result.fetchall(), columns_wide=100)
    yield from (f"note: {escaped(n)}" for n in result.notes)


def _ask(db: Database) -> Iterator[str]:
    options = "".join(f' --choice "{c}"' for c in CHOICES)
    yield f'$ reel ask "{QUESTION}"{options}'
    answer = db.ask(QUESTION, choices=CHOICES)
    yield f"{escaped(answer.answer)}   ({answer.status}, {answer.strategy}, {answer.reasoner})"
    for e in answer.evidence:
        yield f"  {escaped(e.video)} @ {clock(e.start_s)}-{clock(e.end_s)}  {escaped(e.text)}"
    yield from (f"note: {escaped(n)}" for n in answer.notes)
