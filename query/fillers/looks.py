"""Looks of a tool: what is on record, what is not, and how the rest is looked at, once each.

A *place* is one thing to look at: a picture, a window of sound, the pictures of a scene. A look
costs one call, leaves one row in `tool_runs` whether it found anything or not, and any number of
rows in the relation of its role.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reeldb.index.assemble import newest
from reeldb.index.ledger import LookRow
from reeldb.index.store import any_of
from reeldb.query.fillers.base import Work
from reeldb.schema.errors import ModelError
from reeldb.schema.models import UNPAID, Model, Status

Place = tuple[int, int]  # (rank of the video, number of the place in it)
Ints = NDArray[np.int64]
Row = dict[str, Any]
Answer = TypeVar("Answer")
FREE = ("key", "content_id", "source_id", "ingest_id", "t_ms")  # of a row, but not of what it says


@dataclass(frozen=True, slots=True)
class Spots:
    """Places as arrays of equal length: the video's rank and the number."""

    rank: Ints
    number: Ints

    @property
    def codes(self) -> Ints:
        return np.asarray(code(self.rank, self.number), np.int64)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look gave: rows of the relation without their address, in order."""

    status: Status
    rows: Sequence[Row] = ()
    note: str = ""
    seconds: float = 0.0
    same_as_ms: int | None = None


class Looks(ABC):
    """What one tool has looked at, at this snapshot and in this statement."""

    others: tuple[str, ...] = ()  # models whose rows count beside those of the tool
    cuts: frozenset[str] = frozenset()  # tables that decide which places there are

    def __init__(self, work: Work, role: str, kind: type) -> None:
        self.work, self.role = work, role
        tool = work.models.get(role)  # type: ignore[arg-type]
        if tool is None or not isinstance(tool, kind):
            raise ModelError(f"the {role} model cannot look for {role}; name another one")
        self.model: Model = tool
        self.new: dict[Place, list[Row]] = {}
        self.unread: set[Place] = set()

    # What differs between tools

    @property
    @abstractmethod
    def batch_size(self) -> int: ...

    @property
    def wave(self) -> int:
        """How many looks a LIMIT takes at a time before it asks whether it is met."""
        return max(1, self.batch_size)

    @abstractmethod
    def spots(self) -> Spots:
        """Every place of the archive, in key order."""

    @abstractmethod
    def recorded(self) -> Iterable[int]:
        """The codes of the places that are on record."""

    @abstractmethod
    def key(self, place: Place) -> tuple[str, str]:
        """The address of a look and the content it belongs to."""

    @abstractmethod
    def span_ms(self, place: Place) -> tuple[int, int]:
        """From when to when a look goes, as `tool_runs` says."""

    @abstractmethod
    def foreseen(self, spots: Spots) -> Mapping[str, pa.Array]:
        """The columns that rows of these places will have whatever is found, and for bounded
        ones `__lo` and `__hi`."""

    @abstractmethod
    def shown(self, place: Place, row: Row) -> Row | None:
        """A row of this look as the relation shows it, the video's columns left out."""

    @abstractmethod
    def twins(self, place: Place) -> Iterable[Place]:
        """This place in every video that has the same content."""

    @abstractmethod
    def see(self, places: Sequence[Place]) -> None:
        """Looks at places that nobody has looked at, as far as the budget goes; `keep` takes
        what it gave."""

    # What is known

    @property
    def runs(self) -> pa.Table:
        """key, content_id and start_ms of every look of this tool and model on record."""

        def make() -> pa.Table:
            columns = ["key", "content_id", "tool", "model", "start_ms", "status", "created_at"]
            rows = newest(self.work.catalog.snapshot.rows("tool_runs", columns))
            mine = pc.and_(
                pc.equal(rows["tool"], self.role), pc.equal(rows["model"], self.model.identity)
            )
            done = pc.is_in(rows["status"], value_set=pa.array(["ok", "empty"]))
            return rows.filter(pc.and_(mine, done)).select(["key", "content_id", "start_ms"])

        name = f"looks {self.role}"
        return self.work.catalog.kept(name, ["tool_runs"], self.model.identity, make)

    def on_record(self) -> set[int]:
        return self.work.catalog.kept(
            f"look codes {self.role}", ["tool_runs", *sorted({"videos", *self.cuts})],
            self.model.identity, lambda: set(self.recorded()),
        )  # fmt: skip

    def done(self) -> set[int]:
        """The codes of all looks on record or taken in this statement."""
        taken = {code(*p) for p in self.new} | {code(*p) for p in self.unread}
        return self.on_record() | taken if taken else self.on_record()

    def is_done(self, place: Place) -> bool:
        return place in self.new or place in self.unread or code(*place) in self.on_record()

    def stored(self) -> pa.Table:
        """The relation's stored rows of this model."""
        rows = self.work.catalog.snapshot.relation(self.role)
        mine = pa.array([self.model.identity, *self.others])
        return rows.filter(pc.is_in(rows["model"], value_set=mine))

    def missing(self) -> Spots:
        """The places that nobody has looked at."""
        spots = self.spots()
        open_ = ~np.isin(spots.codes, np.fromiter(self.done(), np.int64))
        return Spots(spots.rank[open_], spots.number[open_])

    def found(self, place: Place) -> list[Row] | None:
        """What was found at a place; None where nobody has looked."""
        if place in self.new:
            return self.new[place]
        if place in self.unread or code(*place) not in self.on_record():
            return None
        return self.stored_by_place.get(place, [])

    @property
    def stored_by_place(self) -> dict[Place, list[Row]]:
        raise NotImplementedError

    # As a relation

    def table(self, missing: Spots) -> pa.Table:
        """The relation with a row for every look not yet taken: `__e` is FALSE there."""
        rows = self.stored()
        fresh = self._fresh(rows.schema)
        there = pa.concat_tables([rows, fresh]) if fresh.num_rows else rows
        ahead = self._ahead(missing, rows.schema)
        bounds = [n for n in ahead.column_names if n not in rows.column_names]
        for name in bounds:
            there = there.append_column(name, pa.nulls(there.num_rows, pa.float64()))
        table = pa.concat_tables([there, ahead])
        exists = np.arange(table.num_rows) < there.num_rows
        key = np.arange(table.num_rows, dtype=np.int64)
        table = table.append_column("__k", pa.array(key))
        return table.append_column("__e", pa.array(exists))

    def _fresh(self, schema: pa.Schema) -> pa.Table:
        rows = []
        for place, found in self.new.items():
            video = self.work.catalog.video(place[0])
            for f in found:
                row = self.shown(place, f)
                if row is not None:
                    rows.append({**row, "video": video.name, "video_id": video.video_id})
        return pa.Table.from_pylist(
            [{k: r.get(k) for k in schema.names} for r in rows], schema=schema
        )

    def _ahead(self, spots: Spots, schema: pa.Schema) -> pa.Table:
        videos = self.work.catalog.snapshot.videos
        at = pa.array(spots.rank)
        columns: dict[str, pa.Array] = {
            "video": videos["name"].take(at).combine_chunks(),
            "video_id": videos["video_id"].take(at).combine_chunks(),
            **self.foreseen(spots),
        }
        for field in schema:
            columns.setdefault(field.name, pa.nulls(len(spots.rank), field.type))
        names = [*schema.names, *(n for n in columns if n not in schema.names)]
        return pa.table({n: columns[n] for n in names})

    # Looking

    def look(self, places: Iterable[Place]) -> bool:
        """Looks at these places, in the order given, as far as the budget goes.

        False where it did not go all the way.
        """
        wanted = [p for p in dict.fromkeys(places) if not self.is_done(p)]
        size = max(1, self.batch_size)
        parts = (wanted[i : i + size] for i in range(0, len(wanted), size))
        return all(self._batch(part) for part in parts)

    def _batch(self, places: Sequence[Place]) -> bool:
        """Looks at a few places, each once among all threads and processes."""

        def learn(rows: Sequence[int], since: datetime | None) -> list[int]:
            return self._learn_kept(places, rows, since)

        def compute(rows: Sequence[int]) -> None:
            todo = [places[i] for i in rows if not self._is_new(places[i])]
            if todo:
                self.see(todo)

        self.work.once(range(len(places)), lambda i: self.key(places[i])[0], learn, compute)
        return all(self._is_new(p) for p in places)

    def _is_new(self, place: Place) -> bool:
        return place in self.new or place in self.unread

    def _learn_kept(
        self, places: Sequence[Place], rows: Sequence[int], since: datetime | None
    ) -> list[int]:
        """Learns what others have looked at meanwhile; gives what nobody has."""
        asked = [i for i in rows if not self._is_new(places[i])]
        keys = {i: self.key(places[i])[0] for i in asked}
        runs = self.work.ledger.looks(keys.values(), failed=since is not None)
        found = self._found_of([k for k, r in runs.items() if r.found])
        unknown = []
        for i, key in keys.items():
            run = runs.get(key)
            if run is None or (run.status == "failed" and since and run.created_at < since):
                unknown.append(i)
            elif run.status in ("ok", "empty"):
                self._learn(places[i], found.get(key, []))
            else:
                self.unread.add(places[i])
                self.work.rests("looks", run)
        return unknown

    def _found_of(self, keys: Sequence[str]) -> dict[str, list[Row]]:
        out: dict[str, list[Row]] = {}
        if keys:
            store = self.work.ledger.archive.store
            rows = store.read(self.role, where=any_of("key", keys)).to_pylist()
            for row in sorted(rows, key=lambda r: int(r["line_no"])):
                said = {k: v for k, v in row.items() if k not in FREE}
                out.setdefault(row["key"], []).append(said)
        return out

    def granted(self, wanted: int) -> int:
        """How many of these looks the budget pays for; they are debited."""
        return self.work.budget.take("looks", wanted)

    def ask(
        self, what: str, count: int, call: Callable[[Any], Sequence[Answer]]
    ) -> tuple[Sequence[Answer], float]:
        """`call` of the tool on looks that are debited, and the seconds that one took."""
        if not count:
            return [], 0.0
        started = time.monotonic()
        answers = call(self.work.metered(self.model, "looks"))
        seconds = time.monotonic() - started
        if len(answers) != count:
            raise ModelError(f"{self.model.address} gave {len(answers)} looks for {count} {what}")
        self.work.paid(self.model.address, seconds, 0)
        self.work.count("looks_made", count)
        return answers, seconds / count

    def keep(self, seen: Mapping[Place, Seen]) -> None:
        """Learns what looks gave and writes it to the ledger."""
        runs: list[LookRow] = []
        found: list[Row] = []
        for place, look in seen.items():
            if look.note == UNPAID:
                continue
            rows = [
                {**row, "line_no": i, "model": self.model.identity}
                for i, row in enumerate(look.rows)
            ]
            if look.status in ("failed", "refused"):
                self.unread.add(place)
                self.work.note(f"{self.role} {look.status} on some places: {look.note}")
            else:
                self._learn(place, rows)
            runs.append(self._run(place, look, len(rows)))
            found += [self.stored_row(place, row) for row in rows]
        if runs:
            self.work.keep(lambda: self.work.ledger.put_looks(runs, {self.role: found}))

    def stored_row(self, place: Place, row: Row) -> Row:
        """The row of the relation's table."""
        key, content = self.key(place)
        return {**row, "key": key, "content_id": content}

    def _run(self, place: Place, look: Seen, found: int) -> LookRow:
        key, content = self.key(place)
        start, end = self.span_ms(place)
        return LookRow(
            key=key, content_id=content, tool=self.role, model=self.model.identity,
            start_ms=start, end_ms=end, status=look.status, found=found,
            same_as_ms=look.same_as_ms, note=look.note or None, seconds=look.seconds,
            created_at=self.work.clock(),
        )  # fmt: skip

    def _learn(self, place: Place, rows: list[Row]) -> None:
        """What is found in one file is found in every copy of it."""
        for twin in self.twins(place):
            self.new[twin] = rows


def code(rank: Any, number: Any) -> Any:
    """One number for a place: works on integers and on arrays of them."""
    return rank * (1 << 40) + number


def numbers_of(contents: Sequence[str | None]) -> dict[str, list[int]]:
    """The ranks of the videos that have each content."""
    out: dict[str, list[int]] = {}
    for rank, content in enumerate(contents):
        if content is not None:
            out.setdefault(content, []).append(rank)
    return out
