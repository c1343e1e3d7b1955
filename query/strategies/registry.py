"""The list of strategies, and how options reach them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, ClassVar, Protocol

from reeldb.query.strategies.topk import TopK
from reeldb.schema.errors import BindError, near

if TYPE_CHECKING:
    from reeldb.query.strategies.verdict import Verdict
    from reeldb.query.task import Task


class Strategy(Protocol):
    """A way to answer: a frozen dataclass whose fields are its options."""

    name: ClassVar[str]

    def answer(self, task: Task) -> Verdict: ...


STRATEGIES: dict[str, type[Strategy]] = {"topk": TopK}
AUTO = "topk"  # what `auto` means until there is more to choose from


def strategy(name: str, options: Mapping[str, object]) -> Strategy:
    """The strategy with these options. Raises BindError for a name or option it has not."""
    name = AUTO if name == "auto" else name
    if name not in STRATEGIES:
        raise BindError(f"no strategy {name!r}; {near(name, STRATEGIES)}")
    kind = STRATEGIES[name]
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    for option in options:
        if option not in known:
            raise BindError(f"{name} has no option {option!r}; {near(option, known)}")
    return kind(**{o: _whole(v) for o, v in options.items()})


def _whole(value: object) -> object:
    """Numbers of the language are floats; options that count want whole ones."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
