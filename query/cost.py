"""What a plan can cost: for each read how much is cached, and the calls that the rest takes.

The key queries are asked before anything is filled, so their answers bound what a run can ask
for. What two reads want of one row is counted once in the total.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from reeldb.query.measured import KINDS, Call
from reeldb.query.plan import Plan, Read
from reeldb.query.units import Unit
from reeldb.schema.models import Role

if TYPE_CHECKING:
    from reeldb.query.run import Running


@dataclass(frozen=True, slots=True)
class Cost:
    """Values of a read and calls, at most or as they were.

    `rows` take part; `cached` of them are known, `nulls` read as NULL because SET says so, and
    `made` are made.
    """

    rows: int = 0
    cached: int = 0
    made: int = 0
    nulls: int = 0
    by_call: Mapping[Call, int] = field(default_factory=dict)

    def of(self, kind: str) -> int:
        return sum(n for call, n in self.by_call.items() if call.kind == kind)

    @property
    def captions(self) -> int:
        return self.of("captions")

    @property
    def calls(self) -> int:
        return sum(self.by_call.values())

    def said(self) -> str:
        """`82 captions, 82 replies`."""
        return ", ".join(f"{self.of(k):,} {k}" for k in KINDS if self.of(k))


Costs = dict[tuple[int, int], Cost]  # by (fill, read)


class Wanted:
    """The calls of a whole statement: what two reads want of one row is made once."""

    def __init__(self) -> None:
        self.rows: dict[tuple[Call, str], set[int]] = {}
        self.more: dict[Call, int] = {}

    def add(self, call: Call, about: str, keys: Sequence[int], cap: int | None = None) -> int:
        """Counts rows, at most `cap` of them; gives how many that are by themselves."""
        known = self.rows.setdefault((call, about), set())
        if cap is None or len(keys) <= cap:
            known.update(keys)
            return len(keys)
        self.more[call] = self.more.get(call, 0) + min(cap, len(set(keys) - known))
        return cap

    def total(self) -> Cost:
        calls = dict(self.more)
        for (call, _), rows in self.rows.items():
            calls[call] = calls.get(call, 0) + len(rows)
        return Cost(by_call={c: n for c, n in calls.items() if n})


def bounds(running: Running) -> tuple[Costs, Cost]:
    """What each read can ask for at most, how much of it is known, and what all come to."""
    out: Costs = {}
    wanted = Wanted()
    for fill in running.plan.fills:
        for i, read in enumerate(fill.reads):
            keys = running.query(read.bound)["k"].drop_null().to_pylist()
            found = running.fills.recall(read, keys)
            missing = [k for k in keys if not running.fills.is_known(read, k)]
            n = len(missing) if read.cap is None else min(read.cap, len(missing))
            calls = _calls_of(running, read, missing, wanted)
            out[fill.number, i] = Cost(len(keys), found.known, n, found.nulls, calls)
    return out, wanted.total()


def _calls_of(
    running: Running, read: Read, missing: Sequence[int], wanted: Wanted
) -> dict[Call, int]:
    """Calls by kind that the missing values of one read can take."""
    fills, cap = running.fills, read.cap
    if read.unit < 0:
        call = Call("looks", cast(Role, read.relation))
        return {call: wanted.add(call, read.relation, missing, cap)}
    unit = running.plan.units[read.unit]
    out: dict[Call, int] = {}
    for call in calls_of_unit(unit):
        keys, about, most = missing, f"{unit}", cap
        if call.kind == "looks":
            keys, about, most = fills.unseen(read, missing), unit.column, None
        elif call.kind == "captions" and unit.kind != "describe":
            keys, about = fills.uncaptioned(unit.relation, missing), unit.relation
        out[call] = wanted.add(call, about, keys, most)
    return out


def calls_of_unit(unit: Unit) -> list[Call]:
    """The kinds of calls that make a value of a unit."""
    if unit.at_once or unit.kind == "heavy":
        return []
    if unit.column in ("ocr_text", "speech_text"):
        return [Call("looks", "ocr" if unit.column == "ocr_text" else "speech")]
    out: list[Call] = []
    if unit.kind != "matches" or unit.column == "caption":
        kind = "clip" if unit.relation == "scenes" else "frame"
        out.append(Call("captions", "captioner", "describe" if unit.kind == "describe" else kind))
    if unit.kind == "matches":
        out.append(Call("replies", unit.roles[-1]))
    return out


def calls_of_read(plan: Plan, read: Read) -> list[Call]:
    """The kinds of calls that make what a read wants."""
    if read.unit < 0:
        return [Call("looks", cast(Role, read.relation))]
    return calls_of_unit(plan.units[read.unit])


def calls_of_plan(plan: Plan) -> dict[Call, int]:
    """Every kind of call that a plan may make, once."""
    return {c: 1 for fill in plan.fills for read in fill.reads for c in calls_of_read(plan, read)}
