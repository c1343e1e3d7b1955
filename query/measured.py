"""What calls of the models in use took so far, as this archive has measured it.

Every caption, reply and look is kept with its seconds (a batch's share each, so calls that ran
at once count as such) and tokens; what they come to is kept until the table changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reeldb.query.budget import Each, Kind
from reeldb.query.catalog import Catalog
from reeldb.query.prices import is_here, price_of
from reeldb.schema.models import Role

if TYPE_CHECKING:
    from reeldb.models.registry import Models

CallKind = Literal["captions", "replies", "looks"]
KINDS: tuple[CallKind, ...] = ("captions", "replies", "looks")
TABLE: dict[CallKind, str] = {"captions": "captions", "replies": "replies", "looks": "tool_runs"}
DEBITED: dict[CallKind, Kind] = {"captions": "captions", "replies": "chats", "looks": "looks"}


@dataclass(frozen=True, slots=True)
class Call:
    """A kind of call: of which role's model, and for captions of which kind of prompt."""

    kind: CallKind
    role: Role
    about: str = ""


@dataclass(frozen=True, slots=True)
class Rate:
    """Typical seconds and mean tokens of the calls measured; None where there is none, or none
    told its tokens."""

    seconds: float | None = None
    tokens: float | None = None
    most_tokens: float | None = None


def typical(seconds: NDArray[np.float64]) -> float:
    """The mean of the middle half (n >= 4): the first call of a process also pays for imports
    and connections, and must not speak for the others.

    >>> typical(np.array([0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 3.0, 3.0]))
    0.2
    """
    cut = len(seconds) // 4
    return float(np.sort(seconds)[cut : len(seconds) - cut].mean())


def rate_of(catalog: Catalog, call: Call, identity: str) -> Rate:
    """The rate of a model at a kind of call; where it never made one, at all that it did."""

    def make() -> Rate:
        about = {"captions": "kind", "replies": "role", "looks": "tool"}[call.kind]
        cost = ["seconds"] if call.kind == "looks" else ["seconds", "tokens"]
        rows = catalog.snapshot.rows(TABLE[call.kind], ["model", "status", about, *cost])
        paid = pc.and_(pc.not_equal(rows["status"], "failed"), pc.greater(rows["seconds"], 0))
        rows = rows.filter(pc.and_(paid, pc.equal(rows["model"], identity)))
        value = call.about if call.kind == "captions" else str(call.role)
        same = rows.filter(pc.equal(rows[about], value))
        rows = same if same.num_rows else rows
        if not rows.num_rows:
            return Rate()
        seconds = typical(rows["seconds"].to_numpy())
        tokens = rows["tokens"] if "tokens" in cost else pa.array([], pa.int64())
        most = pc.max(tokens).as_py()
        return Rate(seconds, pc.mean(tokens).as_py(), most) if most else Rate(seconds)

    return catalog.kept(f"rate {call}", [TABLE[call.kind]], identity, make)


class Measured:
    """The rates of one archive, at one snapshot."""

    def __init__(self, catalog: Catalog, models: Models) -> None:
        self.catalog, self.models = catalog, models

    def rate(self, call: Call) -> Rate:
        model = self.models.get(call.role)
        if model is None:
            return Rate()
        return rate_of(self.catalog, call, model.identity)

    def seconds(self, calls: Mapping[Call, int]) -> float | None:
        """What these calls take; None where one of their kinds was never measured."""
        total = 0.0
        for call, n in calls.items():
            each = self.rate(call).seconds
            if n and each is None:
                return None
            total += n * (each or 0.0)
        return total

    def usd(self, calls: Mapping[Call, int]) -> float | str:
        """What these calls cost in dollars, or why nobody knows."""
        total = 0.0
        for call, n in calls.items():
            model = self.models.get(call.role)
            if model is None or not n or is_here(model.address):
                continue
            price, tokens = price_of(model.address), self.rate(call).tokens
            if price is None:
                return f"unknown price of {model.address}"
            if tokens is None:
                return f"no tokens of {model.address} measured yet"
            total += n * tokens * price / 1e6
        return total

    def each(self, calls: Mapping[Call, int]) -> dict[Kind, Each]:
        """The dearest of each kind of these calls so far, for a budget to debit."""
        out: dict[Kind, Each] = {}
        for call in calls:
            rate, model = self.rate(call), self.models.get(call.role)
            if model is None or rate.most_tokens is None:
                continue
            usd = rate.most_tokens * (price_of(model.address) or 0.0) / 1e6
            before = out.get(DEBITED[call.kind], Each())
            out[DEBITED[call.kind]] = Each(
                max(before.seconds or 0.0, rate.seconds or 0.0),
                max(before.tokens or 0.0, rate.most_tokens),
                max(before.usd or 0.0, usd),
            )
        return out
