"""What the planner speaks of: reads of slots, and the blocks around a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from reeldb.query.keys import Around
from reeldb.query.logic import Context, Logic
from reeldb.query.units import Slot, slot_of


@dataclass(frozen=True, slots=True)
class Outer:
    """An enclosing block as it is when the inner one runs, and as it may be before any fill.

    `sure` is False where what may come out of it cannot be told from its tables.
    """

    now: Around
    ahead: Around
    sure: bool


@dataclass(frozen=True, slots=True)
class Use:
    """A slot column, the expression whose outcome counts, and what of it counts."""

    column: exp.Column
    root: exp.Expr
    context: Context


Ask = Callable[[Use, Logic], exp.Select]
Outers = tuple[Outer, ...]


def slot_read(use: Use) -> Slot:
    slot = slot_of(use.column)
    if slot is None:
        raise AssertionError("a use of no slot")
    return slot
