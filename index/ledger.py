"""The ledger: what models said, by address; the same address is never paid for twice.

Rows are written as each batch returns, in one append under the writer lock, and a key that
is there already is dropped. A `failed` row does not count as there: it is tried again, and
the newest row of a key wins. Small files are merged as they pile up (`tidy`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from reeldb.index.archive import Archive
from reeldb.index.assemble import newest, positions
from reeldb.index.flight import Flights
from reeldb.index.known_keys import KnownKeys
from reeldb.index.store import any_of, quote
from reeldb.index.tidy import tidy_ledger
from reeldb.schema.errors import BindError
from reeldb.schema.models import Status
from reeldb.schema.tables import TABLES

MANY = 5000  # above this many keys, read the key column instead of pushing a filter down
FOUND = ("ocr", "objects", "actions", "speech")


def now() -> datetime:
    """The time as the tables keep it: UTC without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class CaptionRow:
    """One caption and its address (`schema.digests.caption_key`)."""

    key: str
    content_id: str
    kind: str
    start_s: float
    end_s: float
    times_ms: Sequence[int]
    text: str | None
    model: str
    prompt_id: str
    status: Status
    note: str | None = None
    fields: str | None = None
    tokens: int = 0
    seconds: float = 0.0
    created_at: datetime = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class LookRow:
    """One look of a tool and its address (`schema.digests.look_key`)."""

    key: str
    content_id: str
    tool: str
    model: str
    start_ms: int
    end_ms: int
    status: Status
    found: int = 0
    same_as_ms: int | None = None
    note: str | None = None
    seconds: float = 0.0
    created_at: datetime = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """One reply of a chat model, a verdict or a score, by request digest."""

    key: str
    role: str
    model: str
    text: str | None
    status: Status
    note: str | None = None
    tokens: int = 0
    seconds: float = 0.0
    created_at: datetime = field(default_factory=now)


Row = TypeVar("Row", CaptionRow, LookRow, ReplyRow)


class Ledger:
    """Reads the newest state, not a snapshot: another process may have just paid."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.flights = Flights(archive.path)

    def captions(self, keys: Iterable[str], failed: bool = False) -> dict[str, CaptionRow]:
        """The captions of these keys that are there; failed ones only where asked for."""
        return self._get("captions", CaptionRow, keys, failed)

    def looks(self, keys: Iterable[str], failed: bool = False) -> dict[str, LookRow]:
        """The looks of these keys that are on record; failed ones only where asked for."""
        return self._get("tool_runs", LookRow, keys, failed)

    def replies(self, keys: Iterable[str], failed: bool = False) -> dict[str, ReplyRow]:
        """The replies of these keys that are there; failed ones only where asked for."""
        return self._get("replies", ReplyRow, keys, failed)

    def put_captions(self, rows: Sequence[CaptionRow]) -> int:
        """Keep new captions; gives how many were new."""
        return self._put("captions", rows)

    def put_replies(self, rows: Sequence[ReplyRow]) -> int:
        """Keep new replies; gives how many were new."""
        return self._put("replies", rows)

    def put_looks(
        self, runs: Sequence[LookRow], found: Mapping[str, Sequence[Mapping[str, Any]]]
    ) -> int:
        """Keep new looks and what they found, by table name; gives how many looks were new.

        `tool_runs` is written last: found rows count only where their look is on record.
        """
        unknown = sorted(set(found) - set(FOUND))
        if unknown:
            raise BindError(f"no table {unknown[0]!r} of things found; known: {', '.join(FOUND)}")
        with self.archive.lock():
            new = self._new("tool_runs", runs)
            keys = {r.key for r in new}
            for table, rows in found.items():
                mine = [r for r in rows if r["key"] in keys]
                if mine:  # a look that was killed halfway may have left some
                    self.archive.store.delete(table, any_of("key", {r["key"] for r in mine}))
                    self.archive.store.append(table, mine)
                    tidy_ledger(self.archive.store, table)
            self._append("tool_runs", new)
        return len(new)

    def put_answer(self, row: Mapping[str, Any]) -> None:
        """Keep an answer, under its `id`; the same id twice is kept once."""
        with self.archive.lock():
            if not self.archive.store.count("answers", f"id = {quote(str(row['id']))}"):
                self.archive.store.append("answers", [row])

    def answer(self, id: str) -> dict[str, Any]:
        """The answer of this id. Raises BindError where there is none."""
        rows = self.archive.store.read("answers", where=f"id = {quote(id)}").to_pylist()
        if not rows:
            raise BindError(f"no answer {id!r}; SELECT id, question FROM answers lists them")
        return dict(rows[0])

    # -- how

    def _get(
        self, table: str, kind: type[Row], keys: Iterable[str], failed: bool
    ) -> dict[str, Row]:
        known = self._known(table)
        asked = dict.fromkeys(keys)
        there = known.there(asked) if failed else known.done(asked)
        wanted = [k for k in asked if k in there]
        if not wanted:
            return {}
        rows = newest(self._rows(table, wanted))
        if not failed:
            rows = rows.filter(pc.not_equal(rows["status"], "failed"))
        names = [f.name for f in fields(kind)]
        return {r["key"]: kind(**r) for r in rows.select(names).to_pylist()}

    def _rows(self, table: str, keys: list[str]) -> pa.Table:
        store = self.archive.store
        if len(keys) <= MANY:
            return store.read(table, where=any_of("key", keys))
        rows = store.read(table)
        return rows.filter(pa.array(positions(rows["key"], pa.array(keys)) >= 0))

    def _put(self, table: str, rows: Sequence[Row]) -> int:
        if not rows:
            return 0
        with self.archive.lock():
            new = self._new(table, rows)
            self._append(table, new)
        return len(new)

    def _new(self, table: str, rows: Sequence[Row]) -> list[Row]:
        """The rows whose keys are not there yet, each key once."""
        latest = {r.key: r for r in rows}
        done = self._known(table).done(latest)
        return [r for key, r in latest.items() if key not in done]

    def _known(self, table: str) -> KnownKeys:
        """Shared by all who opened the same `Archive`."""
        store = self.archive.store
        return self.archive.remember(f"known {table}", None, lambda: KnownKeys(store, table))

    def _append(self, table: str, rows: Sequence[Row]) -> None:
        if rows:
            dicts = [asdict(r) for r in rows]
            self.archive.store.append(table, pa.Table.from_pylist(dicts, schema=TABLES[table]))
            tidy_ledger(self.archive.store, table)
