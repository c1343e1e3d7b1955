"""Running: plan, fill in waves until no missing value can matter, finish in DuckDB."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pyarrow as pa

from reeldb.index.session import Session
from reeldb.index.snapshot import Snapshot
from reeldb.query import parse as ast
from reeldb.query.budget import Budget, Limits
from reeldb.query.cost import calls_of_plan
from reeldb.query.dialect import sql_of
from reeldb.query.engine import Engine
from reeldb.query.fill import Fills
from reeldb.query.fillers.base import Work
from reeldb.query.filling import Filling
from reeldb.query.measured import Measured
from reeldb.query.params import Parameters, for_duckdb
from reeldb.query.pictures import PictureReader
from reeldb.query.plan import Plan
from reeldb.query.prepare import Prepared, prepare
from reeldb.query.prices import need_price
from reeldb.query.ranks import Ranks
from reeldb.query.result import Result
from reeldb.query.similar import Similarity
from reeldb.query.variables import CHOICES, Variables
from reeldb.schema.errors import BindError, ExecuteError, TimeoutExceeded

if TYPE_CHECKING:
    from reeldb.query.ask import Confirm
    from reeldb.query.operators.trace import Watch


def run(
    engine: Engine,
    text: str,
    parameters: Parameters = (),
    *,
    limits: Limits | None = None,
    cached: bool = False,
    watch: Watch | None = None,
    confirm: Confirm | None = None,
) -> Result:
    """Runs one statement of the language; `watch` and `confirm` are those of `ask`."""
    from reeldb.query.statements import run_other

    statement = ast.parse(text)
    if not isinstance(statement, ast.Select):
        return run_other(engine, statement, parameters, watch, confirm)
    variables = engine.variables.cached() if cached else engine.variables
    if statement.explain is not None:
        from reeldb.query.explain import explain

        return engine.archive.read(
            lambda s: explain(engine, s, statement, parameters, variables, limits)
        )
    return engine.archive.read(
        lambda s: select(engine, s, statement, parameters, variables, limits)
    )


def select(
    engine: Engine,
    snapshot: Snapshot,
    statement: ast.Select,
    parameters: Parameters,
    variables: Variables,
    limits: Limits | None = None,
) -> Result:
    with engine.session() as session:
        prepared = prepare(engine, snapshot, statement, parameters, variables)
        running = Running(engine, session, prepared, statement.budget or limits)
        try:
            return running.result()
        finally:
            running.close()


def _check_prices(engine: Engine, plan: Plan) -> None:
    """A budget in USD needs the price of every model that the plan may call."""
    roles = {r for u in plan.units for r in u.roles}
    roles |= {s.relation for s in plan.scans.values() if s.lazy_rows}  # type: ignore[misc]
    for role in sorted(roles):
        model = engine.models.get(role)
        if model is not None:
            need_price(model.address)


class Running:
    """One statement while it runs; `asks` is False for one that may call no server."""

    def __init__(
        self,
        engine: Engine,
        session: Session,
        prepared: Prepared,
        limits: Limits | None,
        *,
        asks: bool = True,
    ) -> None:
        self.engine, self.session, self.prepared = engine, session, prepared
        self.plan, self.notes = prepared.plan, prepared.notes
        self.budget = Budget(limits or Limits.default())
        if self.budget.limits.usd is not None:
            _check_prices(engine, self.plan)
        self.values = for_duckdb(prepared.values)
        self.pictures = PictureReader(engine.opener, self.notes, engine.listener)
        self.stats: dict[str, int] = {}
        self.sql_seconds = 0.0
        variables = prepared.variables
        lazy = frozenset(n for n in CHOICES if getattr(variables, n) == "lazy")
        self.work = Work(
            prepared.catalog, engine.models, engine.ledger(), self.budget, self.pictures,
            self.notes, self.stats, lazy, engine.clock, engine.retry_after_s,
            asks,
        )  # fmt: skip
        similarity = Similarity(prepared.catalog.snapshot, engine.models, variables.embedder)
        self.fills = Fills(
            self.work, session, self.plan, similarity, prepared.values, engine.text_vectors
        )
        measured = Measured(prepared.catalog, engine.models)
        ranks = Ranks(self.plan, self.fills, measured, self.query)
        self.filling = Filling(
            self.plan, self.fills, self.budget, self.query, self.check_types, ranks
        )
        limited = self.budget.limits
        if limited.tokens is not None or limited.usd is not None or limited.seconds is not None:
            self.budget.expect(measured.each(calls_of_plan(self.plan)))

    def close(self) -> None:
        self.pictures.close()

    # The whole

    def result(self) -> Result:
        self.start()
        self._count_embedders()
        for fill in self.plan.fills:
            self.filling.fill(fill)
        self.fills.finish()
        return self._result(self._last_query())

    def _count_embedders(self) -> None:
        """What embedders cost is not known, unless it is nothing."""
        address = self.engine.models.address
        likened = {u.column == "image" for u in self.plan.units if u.kind == "similarity"}
        if True in likened or self.plan.choices:
            self.work.unmetered(self.prepared.variables.embedder or address("embedder"))
        if False in likened:
            self.work.unmetered(address("text_embedder"))

    def start(self) -> None:
        self.fills.start(self.query, self.prepared.variables.search)

    def _last_query(self) -> pa.Table:
        try:
            return self.query(self._final())
        except TimeoutExceeded:
            raise
        except ExecuteError:
            self.check_types()  # tells a statement that cannot run from one that failed
            raise

    def check_types(self) -> None:
        """DuckDB's own check of the final query, before anything is paid for."""
        try:
            self.query(f"SELECT * FROM ({sql_of(self.plan.tree)}) AS q LIMIT 0")
        except TimeoutExceeded:
            raise
        except ExecuteError as e:
            raise BindError(self._in_user_words(str(e))) from None

    def _in_user_words(self, message: str) -> str:
        message = message.split(" Candidate functions:")[0]
        return re.sub(
            r"\br(\d+)\.", lambda m: self.plan.said.get(m[0][:-1], m[0][:-1]) + ".", message
        )

    def _final(self) -> str:
        """The final query: as it stands, or the sound part of it."""
        if not self.filling.open:
            return sql_of(self.plan.tree)
        from reeldb.query.partial import marked, sound

        reads = {(f.number, i): r for f in self.plan.fills for i, r in enumerate(f.reads)}
        slots = frozenset((reads[at].unit, reads[at].scan) for at in self.filling.open)
        best_effort = self.prepared.variables.partial == "best_effort"
        make = marked if best_effort else sound
        return sql_of(make(self.plan.tree, self.plan.scans, slots))

    def not_looked_at(self) -> int:
        """How many values are missing that could still matter."""
        reads = {(f.number, i): r for f in self.plan.fills for i, r in enumerate(f.reads)}
        most: dict[tuple[int, str], int] = {}
        for at, n in self.filling.open.items():
            slot = (reads[at].unit, reads[at].scan)
            most[slot] = max(n, most.get(slot, 0))
        return sum(most.values())

    def _result(self, table: pa.Table) -> Result:
        missing = self.not_looked_at()
        names = [*self.prepared.names, *table.column_names[len(self.prepared.names) :]]
        notes = [*self.notes, *self.work.resting_notes(), *self.null_notes()]
        if missing:
            notes.append(self._why_partial(missing))
        return Result(table, names, "partial" if missing else "complete", notes, self._stats())

    def null_notes(self) -> list[str]:
        """What was read as NULL because SET says to compute nothing, and how to compute it."""
        if self.prepared.variables.quiet:
            return []
        out = []
        for setting, n in sorted(self.fills.nulls.items()):
            values = "1 value that nobody has computed was" if n == 1 else (
                f"{n:,} values that nobody has computed were"
            )  # fmt: skip
            out.append(
                f"SET {setting} = 'cached': {values} read as NULL; to compute what a statement "
                f"needs: SET {setting} = 'lazy'; to compute all: reel fill --{setting}"
            )
        return out

    def _why_partial(self, missing: int) -> str:
        why = f"the budget of {self.budget.ended_by} ended" if self.budget.ended_by else (
            "some values could not be made"
        )  # fmt: skip
        values = "value was" if missing == 1 else "values were"
        again = "; run it again to go on" if self.budget.ended_by else ""
        return f"partial: {why}, {missing:,} {values} not looked at{again}"

    def _stats(self) -> dict[str, object]:
        budget, counts = self.budget, dict(self.stats)
        reused = counts.pop("captions_reused", 0)
        return {
            "captions_made": budget.captions,
            "captions_reused": reused,
            "looks": budget.looks,
            "replies": budget.chats,
            "retries": budget.retries,
            "calls": budget.calls,
            "tokens": budget.tokens,
            "usd": None if budget.dollars is None else round(budget.dollars, 6),
            "model_seconds": round(budget.seconds, 3),
            "sql_seconds": round(self.sql_seconds, 3),
            "not_looked_at": self.not_looked_at(),
            "read_as_null": sum(self.fills.nulls.values()),
            **counts,
        }

    # SQL

    def query(self, sql: str) -> pa.Table:
        """Runs a query of ours; the time limit counts what DuckDB does, and only that."""
        limit = self.prepared.variables.statement_timeout
        left = limit - self.sql_seconds
        started = time.monotonic()
        try:
            if left <= 0:
                raise TimeoutExceeded("")
            return self.session.run(sql, self.values, left)
        except TimeoutExceeded:
            raise TimeoutExceeded(
                f"stopped after {limit:g} s, the time limit of a statement; ask for less, or "
                "SET statement_timeout"
            ) from None
        finally:
            self.sql_seconds += time.monotonic() - started
