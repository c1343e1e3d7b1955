"""One question being answered: its scope, its budget, its trace, and the operators.

Every operator is a statement of the query language over the same ledger, so a strategy is
planned, budgeted and cached by the same machinery as any SELECT. Strategies call operators;
they never touch tables.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from reeldb.query.answer import Choice, Evidence, Step
from reeldb.schema.errors import BindError

if TYPE_CHECKING:
    from reeldb.query.engine import Engine
    from reeldb.query.result import Result
    from reeldb.schema.models import TextEmbedder, Vectors

REACH_S = 5.0  # evidence shows this much of a scene to either side of the picture


@dataclass(frozen=True, slots=True)
class Picture:
    """A grid picture in the scope, with the scene it lies in."""

    video: str
    video_id: str
    t_s: float
    scene_start_s: float
    scene_end_s: float
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A picture that was looked at, and what was read of it."""

    picture: Picture
    caption: str | None
    key: str | None
    onscreen: str
    spoken: str

    @property
    def words(self) -> str:
        return "\n".join(t for t in (self.caption, self.onscreen, self.spoken) if t)


@dataclass(slots=True)
class Task:
    """What a strategy works on. `budget` holds limits by unit; what was spent is in `spent`."""

    engine: Engine
    question: str
    choices: tuple[Choice, ...]
    scope: str
    parameters: Mapping[str, object]
    budget: dict[str, float]
    spent: dict[str, float] = field(default_factory=dict)
    trace: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    partial: bool = False

    @property
    def text_embedder(self) -> TextEmbedder:
        return self.engine.models.text_embedder()

    # Operators

    def search(self, text: str, k: int) -> list[Picture]:
        """The k grid pictures in the scope most similar to the text, best first."""
        rows = self._run(
            "search",
            f"{self.scope} SELECT {PICTURE}, similarity(f.image, $reel_text) AS relevance "
            f"{IN_SCOPE} AND similarity(f.image, $reel_text) IS NOT NULL "
            f"ORDER BY relevance DESC LIMIT {int(k)}",
            {"reel_text": text},
        ).fetchall()
        return [Picture(*row) for row in rows]

    def uniform(self, n: int) -> list[Picture]:
        """At most n grid pictures spread evenly over the scope, in time order."""
        rows = self._run(
            "uniform",
            f"{self.scope} SELECT {PICTURE} {IN_SCOPE} ORDER BY f.video, f.video_id, f.t_s",
            {},
        ).fetchall()
        n = min(n, len(rows))
        return [Picture(*rows[(2 * i + 1) * len(rows) // (2 * n)]) for i in range(n)]

    def look(self, pictures: Sequence[Picture]) -> list[Seen]:
        """The pictures with their captions (made where missing, within the budget), and with
        the on-screen text and speech that the archive already holds, in the given order."""
        if not pictures:
            return []
        captions = self._captions(pictures)
        words = self._words(pictures)
        seen = []
        for p in pictures:
            caption, key = captions.get((p.video_id, p.t_s), (None, None))
            onscreen, spoken = words.get((p.video_id, p.t_s), ("", ""))
            seen.append(Seen(p, caption, key, onscreen, spoken))
        return seen

    def picture_cosines(self, texts: Sequence[str], pictures: Sequence[Picture]) -> Vectors:
        """Cosines of shape (texts, pictures); NaN where a picture has no vector."""
        out = np.full((len(texts), len(pictures)), np.nan, np.float32)
        if not pictures or not self.engine.has_vectors():
            return out
        columns = ", ".join(f"similarity(f.image, $reel_t{i})" for i in range(len(texts)))
        rows = self._run(
            "similarity",
            f"SELECT f.video_id, f.t_s, {columns} FROM frames f WHERE {_these(pictures)}",
            {f"reel_t{i}": t for i, t in enumerate(texts)} | _values(pictures),
        ).fetchall()
        at = {(p.video_id, p.t_s): i for i, p in enumerate(pictures)}
        for video_id, t_s, *cosines in rows:
            out[:, at[video_id, t_s]] = [np.nan if c is None else c for c in cosines]
        return out

    # Evidence

    def evidence(self, seen: Sequence[Seen]) -> tuple[Evidence, ...]:
        """Spans that cite what was seen, best first; two pictures of one stretch are one span."""
        out: list[Evidence] = []
        for s in seen:
            p = s.picture
            start_s = max(p.scene_start_s, p.t_s - REACH_S)
            end_s = min(p.scene_end_s, p.t_s + REACH_S)
            if not any(e.video_id == p.video_id and e.start_s <= p.t_s < e.end_s for e in out):
                text = s.words.replace("\n", "; ")
                out.append(Evidence(p.video, p.video_id, start_s, end_s, text, s.key))
        return tuple(out)

    # Inside

    def _captions(
        self, pictures: Sequence[Picture]
    ) -> dict[tuple[str, float], tuple[str | None, str | None]]:
        result = self._run(
            "caption",
            f"SELECT f.video_id, f.t_s, f.caption FROM frames f WHERE {_these(pictures)}",
            _values(pictures),
            budgeted=True,
        )
        keys = self._run(
            "cite",
            "SELECT f.video_id, f.t_s, c.key FROM frames f JOIN captions c USING (video_id) "
            "WHERE c.kind = 'frame' AND c.status = 'ok' AND c.model = $reel_model "
            f"AND c.times_ms[1] = round(f.t_s * 1000) AND {_these(pictures)}",
            {"reel_model": self.engine.models.captioner().identity} | _values(pictures),
        )
        cited = {(v, t): key for v, t, key in keys.fetchall()}
        return {(v, t): (text, cited.get((v, t))) for v, t, text in result.fetchall()}

    def _words(self, pictures: Sequence[Picture]) -> dict[tuple[str, float], tuple[str, str]]:
        rows = self._run(
            "read",
            "SELECT f.video_id, f.t_s, "
            "(SELECT string_agg(o.text, ' ' ORDER BY o.line_no) FROM ocr o "
            " WHERE o.video_id = f.video_id AND o.t_s = f.t_s), "
            "(SELECT string_agg(s.text, ' ' ORDER BY s.start_s) FROM speech s "
            " WHERE s.video_id = f.video_id AND s.start_s <= f.t_s AND f.t_s < s.end_s) "
            f"FROM frames f WHERE {_these(pictures)}",
            _values(pictures),
            cached=True,
        ).fetchall()
        return {(v, t): (onscreen or "", spoken or "") for v, t, onscreen, spoken in rows}

    def _run(
        self,
        operator: str,
        statement: str,
        values: Mapping[str, object],
        *,
        budgeted: bool = False,
        cached: bool = False,
    ) -> Result:
        """Runs one operator's statement, charges the budget and writes the trace."""
        started = time.monotonic()
        used = {k: v for k, v in self.parameters.items() if f"${k}" in self.scope}
        result = self.engine.sql(
            statement,
            {**(used if self.scope and statement.startswith(self.scope) else {}), **values},
            budget=self.left() if budgeted else None,
            cached=cached,
        )
        stats = result.stats
        made, reused = int(stats.get("captions_made", 0)), int(stats.get("captions_reused", 0))
        calls = int(stats.get("calls", 0))
        for unit, amount in (("captions", made), ("calls", calls),
                             ("tokens", stats.get("tokens", 0))):  # fmt: skip
            self.spent[unit] = self.spent.get(unit, 0) + amount
        self.spent["reused"] = self.spent.get("reused", 0) + reused
        self.partial |= result.status != "complete"
        self.notes += [n for n in result.notes if n not in self.notes]
        self.trace.append(
            Step(
                operator,
                {"statement": statement, "values": {k: str(v) for k, v in values.items()}},
                {"rows": result.row_count, "status": result.status},
                made,
                reused,
                calls,
                time.monotonic() - started,
            )
        )
        return result

    def left(self) -> dict[str, float]:
        """What is left of the budget, by unit."""
        return {u: max(0.0, limit - self.spent.get(u, 0)) for u, limit in self.budget.items()}


PICTURE = "f.video, f.video_id, f.t_s, n.start_s, n.end_s"
IN_SCOPE = (
    "FROM frames f JOIN scenes n ON n.video_id = f.video_id AND n.scene_no = f.scene_no "
    "WHERE f.on_grid AND EXISTS (SELECT 1 FROM reel_scope s WHERE s.video_id = f.video_id "
    "AND f.t_s >= s.start_s AND f.t_s < s.end_s)"
)


def scope_of(engine: Engine, relation: str | None, parameters: Mapping[str, object]) -> str:
    """A WITH clause that names the scope's spans `reel_scope`.

    `relation` is the text after FROM (with its WHERE), or None for the whole archive. It may
    yield spans (`start_s`, `end_s`), moments (`t_s`) or whole videos (`video_id` alone).
    Raises BindError where it yields none of these.
    """
    if relation is None:
        inner = "SELECT video_id, 0.0 AS start_s, duration_s AS end_s FROM videos"
        return f"WITH reel_scope AS ({inner})"
    columns = set(engine.columns(f"SELECT * FROM {relation}", parameters))
    if {"video_id", "start_s", "end_s"} <= columns:
        spans = "start_s, end_s"
    elif {"video_id", "t_s"} <= columns:
        spans = "t_s AS start_s, t_s + 0.001 AS end_s"
    elif {"video_id", "duration_s"} <= columns:
        spans = "0.0 AS start_s, duration_s AS end_s"
    else:
        raise BindError(
            "ASK ... FROM needs rows with video_id and start_s, end_s (or t_s, or duration_s), "
            f"not {', '.join(sorted(columns))}"
        )
    return (
        f"WITH reel_found AS (SELECT * FROM {relation}), "
        f"reel_scope AS (SELECT video_id, {spans} FROM reel_found)"
    )


def _these(pictures: Sequence[Picture]) -> str:
    """A condition that holds for exactly these rows of `frames f`."""
    tests = [f"(f.video_id = $reel_v{i} AND f.t_s = $reel_s{i})" for i in range(len(pictures))]
    return f"({' OR '.join(tests)})"


def _values(pictures: Sequence[Picture]) -> dict[str, object]:
    values: dict[str, object] = {}
    for i, p in enumerate(pictures):
        values[f"reel_v{i}"], values[f"reel_s{i}"] = p.video_id, p.t_s
    return values
