"""The list of strategies, and how options reach them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from reeldb.query.roles import ROLES
from reeldb.query.strategies.descent import Descent
from reeldb.query.strategies.dpp import Dpp
from reeldb.query.strategies.lookup import Lookup
from reeldb.query.strategies.mapreduce import MapReduce
from reeldb.query.strategies.recursive import Recursive
from reeldb.query.strategies.topk import TopK
from reeldb.query.strategies.tree import Tree
from reeldb.query.strategies.uniform import Uniform
from reeldb.schema.errors import BindError, near

if TYPE_CHECKING:
    from reeldb.query.reasoners import Reasoner
    from reeldb.query.strategies.plan import Line, Shape
    from reeldb.query.strategies.verdict import Verdict
    from reeldb.query.task import Task


class Strategy(Protocol):
    """A way to answer: a frozen dataclass whose fields are its options."""

    name: ClassVar[str]

    def plan(self, shape: Shape) -> list[Line]: ...

    def answer(self, task: Task, reasoner: Reasoner) -> Verdict: ...


STRATEGIES: dict[str, type[Strategy]] = {
    "uniform": Uniform,
    "topk": TopK,
    "dpp": Dpp,
    "tree": Tree,
    "descent": Descent,
    "mapreduce": MapReduce,
    "recursive": Recursive,
    "lookup": Lookup,
}
AUTO = "auto"  # `strategies.auto` chooses one of the others, once the scope is known
UNTIL_CHOSEN = "uniform"
REASONERS = ("chat", "embedding")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A strategy with its options, the addresses of its roles, and which reasoner was asked for
    (None: the one that the models allow)."""

    strategy: Strategy
    roles: Mapping[str, str]
    reasoner: str | None = None


def chosen(name: str, options: Mapping[str, object]) -> Chosen:
    """The strategy with these options. Raises BindError for a name or option it has not.

    `reasoner => 'embedding' | 'chat'` chooses the kind, `reasoner => 'ADDRESS'` the model.
    """
    name = UNTIL_CHOSEN if name == AUTO else name
    if name not in STRATEGIES:
        raise BindError(f"no strategy {name!r}; {near(name, [AUTO, *STRATEGIES])}")
    own: dict[str, object] = {}
    roles: dict[str, str] = {}
    reasoner = None
    aliases = getattr(STRATEGIES[name], "aliases", {})
    for given, value in options.items():
        option = aliases.get(given, given)
        if option == "reasoner" and value in REASONERS:
            reasoner = str(value)
        elif option in ROLES and isinstance(value, str):
            roles[option] = value
        else:
            own[option] = value
    return Chosen(_made(STRATEGIES[name], own), roles, reasoner)


def _made(kind: type[Strategy], options: Mapping[str, object]) -> Strategy:
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    for option, value in options.items():
        if option not in known:
            possible = [*known, *ROLES]
            raise BindError(f"{kind.name} has no option {option!r}; {near(option, possible)}")
        _check_type(kind, known[option].default, option, value)
    return kind(**{o: _whole(v) for o, v in options.items()})


def _check_type(kind: type[Strategy], default: object, option: str, value: object) -> None:
    """Raises BindError where the value is of another kind than the option's default."""
    kinds: dict[type, Any] = {bool: (bool, "true or false"), str: (str, "a quoted text")}
    wanted, said = kinds.get(type(default), ((int, float), "a number"))
    if not isinstance(value, wanted) or (isinstance(value, bool) and not isinstance(default, bool)):
        raise BindError(f"{kind.name}({option} => {value!r}): give {said}")


def _whole(value: object) -> object:
    """Numbers of the language are floats; options that count want whole ones."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
