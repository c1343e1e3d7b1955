"""A plan: frozen nodes, each printed in one line; describing it runs nothing.

The nodes show the statement as a tree, innermost first to run. A `Fill` stands where values
must be there before anything above it may go on; its `Read`s hold the key queries that ask
which keys still matter. `Plan.fills` lists them in the order in which they run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from reeldb.query.frame_choice import FrameChoice
from reeldb.query.nearest import Nearest
from reeldb.query.rewrite import Scan
from reeldb.query.units import Unit


@dataclass(frozen=True, slots=True)
class Node:
    """An operator. `text` is what it does, in the user's names.

    Of a node in a plan that is shown, `expected` and `actual` count its rows (SQL, column n):
    those that there may be before anything is filled, and those that there are.
    """

    children: tuple[Node, ...] = ()
    text: str = ""
    expected: str = field(default="", kw_only=True)
    actual: str = field(default="", kw_only=True)
    may_be_less: bool = field(default=False, kw_only=True)

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def line(self) -> str:
        return f"{self.name} {self.text}".rstrip()

    def walk(self) -> Iterator[Node]:
        """This node and all below, children first: the order in which they run."""
        for child in self.children:
            yield from child.walk()
        yield self


@dataclass(frozen=True, slots=True)
class ScanRows(Node):
    """Stored rows of a relation."""

    relation: str = ""

    @property
    def name(self) -> str:
        return "Scan"


class Rows(Node):
    """VALUES, unnest, range: rows that come from the statement itself."""

    __slots__ = ()


class SelectFrames(Node):
    """Pictures chosen for a question."""

    __slots__ = ()


class Derived(Node):
    """A query in FROM: exact before anything above it is asked."""

    __slots__ = ()


class Join(Node):
    """Rows of the left side with rows of the right side."""

    __slots__ = ()


class Filter(Node):
    """Rows for which a condition is TRUE."""

    __slots__ = ()


class Nested(Node):
    """A query inside an expression: EXISTS, IN, scalar."""

    __slots__ = ()


class Aggregate(Node):
    """One row a group."""

    __slots__ = ()


class Window(Node):
    """Window functions, and QUALIFY on them."""

    __slots__ = ()


class Distinct(Node):
    """Each row once."""

    __slots__ = ()


class Sort(Node):
    """Rows in order."""

    __slots__ = ()


class Limit(Node):
    """The first rows."""

    __slots__ = ()


class Project(Node):
    """The columns of the result."""

    __slots__ = ()


class SetOperation(Node):
    """UNION, EXCEPT, INTERSECT."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Read:
    """One place where a slot is read.

    `query` gives, as column k, the keys that can still matter there. `bound` is the same
    before anything is filled: at most `cap` of its keys are ever asked for. `passing` counts, of
    the rows looked at (n), those that the condition lets through (t); '' where it is more than
    a condition on the rows of one scan.
    """

    unit: int
    scan: str
    relation: str
    clause: str
    query: str
    bound: str
    cap: int | None = None
    passing: str = ""


@dataclass(frozen=True, slots=True)
class TopRows:
    """A LIMIT that stops filling early.

    `query` gives the candidate rows in the statement's order, without a LIMIT: `m` (surely a
    row of the result) and, for read i, `k<i>` (its key) and `n<i>` (whether it can matter).
    `rows` is LIMIT plus OFFSET.
    """

    rows: int
    query: str


@dataclass(frozen=True, slots=True)
class Fill(Node):
    """Values that models make, or that are read from disk, only for keys that matter."""

    reads: tuple[Read, ...] = ()
    top: TopRows | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What runs: fills in order, then `tree` as it stands."""

    root: Node
    tree: exp.Query
    units: tuple[Unit, ...]
    scans: dict[str, Scan]
    said: dict[str, str] = field(default_factory=dict)
    nearest: Nearest | None = None
    choices: dict[str, FrameChoice] = field(default_factory=dict)

    @property
    def fills(self) -> list[Fill]:
        return sorted((n for n in self.root.walk() if isinstance(n, Fill)), key=lambda f: f.number)

    @property
    def relations(self) -> set[str]:
        return {s.relation for s in self.scans.values()}
