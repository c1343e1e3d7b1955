"""What tools read in a stretch of a video: on-screen text, speech, objects, actions.

Readings come by an ordinary SELECT over the tool's relation, so what was read before is free
and the rest is looked at within the question's budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reeldb.query.parse import Select, parse
from reeldb.schema.errors import PlanError

if TYPE_CHECKING:
    from reeldb.query.engine import Engine
    from reeldb.query.fillers.base import Work
    from reeldb.query.result import Result

RELATIONS = ("ocr", "speech", "objects", "actions")
LEAST_ACTION = 0.8  # confidence (RVLSM, appendix: auxiliary modules)
MANY = 1 << 40
_AT = "video_id = $video AND t_s >= $start AND t_s < $end"
_OVER = "video_id = $video AND start_s < $end AND end_s > $start"
_READ = {
    "ocr": f"SELECT t_s, text FROM ocr WHERE {_AT}",
    "objects": f"SELECT t_s, label FROM objects WHERE {_AT}",
    "speech": f"SELECT start_s, text FROM speech WHERE {_OVER}",
    "actions": f"SELECT start_s, label FROM actions WHERE {_OVER} AND confidence > $least",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """(seconds, text) of what a tool read, in time order. `there` is False where nothing can
    read it: no model is set and nothing is on record; `partial` where the budget ended first."""

    lines: tuple[tuple[float, str], ...] = ()
    there: bool = True
    partial: bool = False
    calls: int = 0


class ToolReader:
    """Reads relations, those of tools and any other; `cached` makes no look."""

    def __init__(self, engine: Engine, work: Work, *, cached: bool = False) -> None:
        self._engine, self._work, self._cached = engine, work, cached

    def read(
        self, tool: str, video_id: str, start_s: float, end_s: float, times_s: Sequence[float]
    ) -> Reading:
        """What the tool read in `[start_s, end_s)`; picture tools look at `times_s` only."""
        statement, values = _READ[tool], {"video": video_id, "start": start_s, "end": end_s}
        if tool in ("ocr", "objects"):
            statement += f" AND t_s IN ({', '.join(repr(float(t)) for t in times_s) or 'NULL'})"
            statement += " ORDER BY t_s, line_no"
        else:
            statement += " ORDER BY start_s, line_no"
        if tool == "actions":
            values["least"] = LEAST_ACTION
        left = self._work.budget.left("looks")
        cached = self._cached or not left
        budget = {"calls": float(min(left, MANY))}
        found = self._engine.sql(statement, values, budget=budget, cached=cached)
        calls = int(found.stats.get("calls", 0))
        self._work.budget.take("looks", calls)
        self._add_cost(found)
        rows = tuple((float(t), str(text)) for t, text in found.fetchall() if text)
        there = bool(rows) or self._engine.models.address(tool) is not None  # type: ignore[arg-type]
        partial = found.status != "complete" or (not left and not self._cached)
        return Reading(rows, there, partial, calls)

    def select(self, statement: str) -> Result:
        """What a SELECT gives, within the budget that is left. Raises PlanError for any other
        statement."""
        if not isinstance(parse(statement), Select):
            raise PlanError("only a SELECT can be run here")
        budget = self._work.budget
        left = {
            "captions": float(min(budget.left("captions"), MANY)),
            "calls": float(min(budget.left("chats") + budget.left("captions"), MANY)),
        }
        found = self._engine.sql(statement, budget=left, cached=self._cached)
        for kind, name in (("captions", "captions_made"), ("chats", "replies"), ("looks", "looks")):
            budget.take(kind, int(found.stats.get(name, 0)))  # type: ignore[arg-type]
        self._add_cost(found)
        return found

    def _add_cost(self, found: Result) -> None:
        tokens, usd = found.cost()
        self._work.budget.add("a statement", tokens, usd)
