"""What a question may cost: the bound of its strategy, in calls, seconds and dollars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from reeldb.query.measured import Call, rate_of
from reeldb.query.prices import price_of

if TYPE_CHECKING:
    from reeldb.query.catalog import Catalog
    from reeldb.query.operators.grid import Grid
    from reeldb.query.roles import Cast
    from reeldb.query.strategies.plan import Line
    from reeldb.schema.models import Model


@dataclass(frozen=True, slots=True)
class Expected:
    """At most so many captions and calls to chat or vision models; seconds and dollars at this
    archive's measured rates, None where they were never measured or no price is known."""

    captions: int
    calls: int
    seconds: float | None
    usd: float | None

    def __str__(self) -> str:
        time = "time not measured yet" if self.seconds is None else f"about {self.seconds:.3g} s"
        money = "price not known" if self.usd is None else f"about ${self.usd:.2g}"
        money = "no money" if self.usd == 0 else money
        return f"at most {self.captions:,} captions and {self.calls:,} calls; {time}; {money}"


def expected(lines: Sequence[Line], cast: Cast, catalog: Catalog) -> Expected:
    wanted: list[tuple[Call, int, Model]] = [
        (Call("captions", "captioner", x.kind), x.captions, cast.captioner())
        for x in lines if x.captions
    ]  # fmt: skip
    wanted += [(Call("replies", "chat"), x.calls, cast.model("reasoner")) for x in lines if x.calls]
    seconds: float | None = 0.0
    usd: float | None = 0.0
    for call, count, model in wanted:
        rate, price = rate_of(catalog, call, model.identity), price_of(model.address)
        seconds = _plus(seconds, rate.seconds, count)
        cost = 0.0 if price == 0 else _times(price, rate.tokens)
        usd = _plus(usd, None if cost is None else cost / 1e6, count)
    return Expected(sum(x.captions for x in lines), sum(x.calls for x in lines), seconds, usd)


def captions_at(catalog: Catalog, kind: str, identity: str) -> NDArray[np.int64]:
    """The rows of `captions` that are ok, of this kind and model."""
    rows = catalog.snapshot.relation("captions")
    there = pc.and_(
        pc.and_(pc.equal(rows["kind"], kind), pc.equal(rows["model"], identity)),
        pc.equal(rows["status"], "ok"),
    )
    return np.flatnonzero(pc.fill_null(there, False).to_numpy())


def held(catalog: Catalog, grid: Grid, kind: str, identity: str) -> int:
    """How many captions of this kind and model the ledger holds of pictures of the grid."""
    at = captions_at(catalog, kind, identity)
    rank = catalog.snapshot.ranks("captions")[at]
    start_s = catalog.snapshot.relation("captions")["start_s"].to_numpy()
    ms = np.rint(start_s[at] * 1000).astype(np.int64)
    mine = grid.rank * (1 << 40) + np.rint(grid.t_s * 1000).astype(np.int64)
    return int(np.isin(rank * (1 << 40) + ms, mine).sum())


def _times(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a * b


def _plus(total: float | None, each: float | None, count: int) -> float | None:
    return None if total is None or each is None else total + each * count
