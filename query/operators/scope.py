"""The scope of a question: the spans of videos it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reeldb.schema.errors import BindError

if TYPE_CHECKING:
    from reeldb.query.engine import Engine
    from reeldb.query.result import Result

Spans = list[tuple[str, float, float]]


@dataclass(frozen=True, slots=True)
class Scope:
    """`spans` are (video id, start, end), None for the whole archive; `result` is that of the
    statement that found them, if one had to run."""

    spans: Spans | None
    result: Result | None = None


def scope_of(
    engine: Engine,
    relation: str | None,
    parameters: Mapping[str, object],
    budget: Mapping[str, float] | None,
) -> Scope:
    """The spans that a relation expression yields: `start_s`, `end_s`, moments (`t_s`) or whole
    videos (`duration_s`). `relation` is the text after FROM (with its WHERE), None for all.

    Raises BindError where it yields none of these.
    """
    if relation is None:
        return Scope(None)
    columns = set(engine.columns(f"SELECT * FROM {relation}", parameters))
    if {"video_id", "start_s", "end_s"} <= columns:
        spans = "start_s, end_s"
    elif {"video_id", "t_s"} <= columns:
        spans = "t_s, t_s + 0.001"
    elif {"video_id", "duration_s"} <= columns:
        spans = "0.0, duration_s"
    else:
        raise BindError(
            "ASK ... FROM needs rows with video_id and start_s, end_s (or t_s, or duration_s), "
            f"not {', '.join(sorted(columns))}"
        )
    statement = f"WITH reel_found AS (SELECT * FROM {relation}) "
    statement += f"SELECT video_id, {spans} FROM reel_found"
    result = engine.sql(statement, parameters, budget=budget or None)
    return Scope(_joined(result.fetchall()), result)


def _joined(rows: Iterable[tuple[str, float, float]]) -> Spans:
    """The same moments as few spans, by video and time; rows without a span are left out."""
    out: Spans = []
    for video_id, start_s, end_s in sorted(
        (v, float(a), float(b)) for v, a, b in rows if None not in (v, a, b)
    ):
        if out and out[-1][0] == video_id and start_s <= out[-1][2]:
            out[-1] = (video_id, out[-1][1], max(out[-1][2], end_s))
        else:
            out.append((video_id, start_s, end_s))
    return out
