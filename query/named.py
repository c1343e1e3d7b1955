"""Captions with the names of entities in place of the local ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from reeldb.schema.errors import BindError, near

if TYPE_CHECKING:
    from reeldb.query.engine import Engine

_NAME = re.compile(r"<([^<>\n]{1,80})>")


def named(text: str, names: Mapping[str, str]) -> str:
    """The text with each `<local>` that has a name replaced by it, all at once.

    >>> named("<a> meets <b>; <c> leaves", {"a": "b", "b": "person_a"})
    '<b> meets <person_a>; <c> leaves'
    """
    return _NAME.sub(lambda m: f"<{names.get(m[1], m[1])}>", text)


def names_at(
    mentions: Iterable[tuple[str, str, float, float]], start_s: float, end_s: float
) -> dict[str, str]:
    """Name by local name, of the mentions (local, name, start, end) whose segment holds the
    middle of a span: one local name may be two characters in two segments."""
    middle = (start_s + end_s) / 2
    return {local: name for local, name, a, b in mentions if a <= middle < b}


def named_captions(
    engine: Engine, video_id: str, version: str | None = None, *, names: bool = True
) -> list[dict[str, object]]:
    """The dense captions of a video in order of time, as {start_s, end_s, text, key}.

    `names` applies those of a version, the newest where none is named; without any the text is
    as it was written. Raises BindError for a version that there is not.
    """
    mentions = _mentions(engine, video_id, version) if names else []
    rows = engine.sql(
        "SELECT start_s, end_s, text, key FROM captions WHERE kind = 'dense' AND status = 'ok' "
        "AND video_id = $video ORDER BY start_s, end_s, key",
        {"video": video_id},
    ).fetchall()
    return [
        {"start_s": a, "end_s": b, "text": named(text, names_at(mentions, a, b)), "key": key}
        for a, b, text, key in rows
    ]


def _mentions(
    engine: Engine, video_id: str, version: str | None
) -> list[tuple[str, str, float, float]]:
    rows = engine.sql(
        "SELECT m.version, m.local_name, e.name, m.start_s, m.end_s FROM entity_mentions m "
        "JOIN entities e ON e.entity_id = m.entity_id AND e.version = m.version "
        "AND e.video_id = m.video_id WHERE m.video_id = $video",
        {"video": video_id},
    ).fetchall()
    known = sorted({str(r[0]) for r in rows})
    if version is not None and version not in known:
        raise BindError(f"no version {version!r} of this video's entities; {near(version, known)}")
    wanted = version or (known[-1] if known else None)
    return [(local, name, a, b) for v, local, name, a, b in rows if v == wanted]
