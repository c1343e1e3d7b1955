"""What a question may cost: the bound of its strategy, in calls, seconds and dollars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reeldb.query.prices import price_of

if TYPE_CHECKING:
    from reeldb.query.catalog import Catalog
    from reeldb.query.operators.grid import Grid
    from reeldb.query.roles import Cast
    from reeldb.query.strategies.plan import Line

ASKING = ("judge", "searcher", "reasoner", "interpreter")  # roles whose calls are replies


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


@dataclass(frozen=True, slots=True)
class Rate:
    """Means over what a model has done in this archive; None where it has done nothing."""

    seconds: float | None
    tokens: float | None


def expected(lines: Sequence[Line], cast: Cast, catalog: Catalog) -> Expected:
    captions, calls = sum(x.captions for x in lines), sum(x.calls for x in lines)
    seconds: float | None = 0.0
    usd: float | None = 0.0
    captioner = cast.captioner() if captions else None
    models = [("captions", captions, captioner.address, captioner.identity)] if captioner else []
    if calls:
        model = cast.model("reasoner")
        models.append(("replies", calls, model.address, model.identity))
    for table, count, address, identity in models:
        rate, price = measured(catalog, table, identity), price_of(address)
        seconds = _plus(seconds, rate.seconds, count)
        cost = 0.0 if price == 0 else _times(price, rate.tokens)
        usd = _plus(usd, None if cost is None else cost / 1e6, count)
    return Expected(captions, calls, seconds, usd)


def measured(catalog: Catalog, table: str, identity: str) -> Rate:
    """Seconds and tokens that a call of this model took on average, in this archive."""

    def make() -> Rate:
        rows = catalog.snapshot.rows(table, ["model", "seconds", "tokens"])
        mine = rows.filter(
            pc.and_(pc.equal(rows["model"], identity), pc.greater(rows["seconds"], 0))
        )
        return Rate(_mean(mine["seconds"]), _mean(mine["tokens"]))

    return catalog.kept(f"rate {table} {identity}", [table], identity, make)


def held(catalog: Catalog, grid: Grid, kind: str, identity: str) -> int:
    """How many captions of this kind and model the ledger holds of pictures of the grid."""
    rows = catalog.snapshot.relation("captions")
    there = pc.and_(
        pc.and_(pc.equal(rows["kind"], kind), pc.equal(rows["model"], identity)),
        pc.equal(rows["status"], "ok"),
    )
    at = np.flatnonzero(pc.fill_null(there, False).to_numpy())
    rank = catalog.snapshot.ranks("captions")[at]
    ms = np.rint(rows["start_s"].to_numpy()[at] * 1000).astype(np.int64)
    mine = grid.rank * (1 << 40) + np.rint(grid.t_s * 1000).astype(np.int64)
    return int(np.isin(rank * (1 << 40) + ms, mine).sum())


def _mean(column: pa.ChunkedArray) -> float | None:
    return None if not len(column) else float(pc.mean(column).as_py())


def _times(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a * b


def _plus(total: float | None, each: float | None, count: int) -> float | None:
    return None if total is None or each is None else total + each * count
