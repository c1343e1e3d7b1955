"""The trace: one step for each operator that ran, and what the question has cost so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from reeldb.query.answer import Step
from reeldb.query.budget import Budget


@dataclass(slots=True)
class Cost:
    """What one operator used: values made by models, values reused, requests sent."""

    outputs: dict[str, object] = field(default_factory=dict)
    made: int = 0
    reused: int = 0
    calls: int = 0


Watch = Callable[[Step], None]


class Trace:
    """`steps` in the order in which they ended. `watch` is shown each of them."""

    def __init__(self, budget: Budget, watch: Watch | None = None) -> None:
        self.steps: list[Step] = []
        self._budget, self._watch = budget, watch

    @contextmanager
    def step(self, operator: str, inputs: Mapping[str, object]) -> Iterator[Cost]:
        """Measures the block; a step that raises is written down too."""
        cost, started, tokens = Cost(), time.monotonic(), self._budget.tokens
        try:
            yield cost
        finally:
            step = Step(
                operator, inputs, cost.outputs, cost.made, cost.reused, cost.calls,
                self._budget.tokens - tokens, time.monotonic() - started,
            )  # fmt: skip
            self.steps.append(step)
            if self._watch is not None:
                self._watch(step)

    def total(self, name: str) -> int:
        return sum(getattr(s, name) for s in self.steps)
