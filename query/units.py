"""What can be filled: a unit is one value per row of a relation; a slot is a unit at a scan.

Slots are ordinary columns of the tree, with names that no user can write (the binder knows
the catalog's names only):

```text
__k_r0     the key of a row of scan r0: its number in the relation's key order
__v2_r0    the value of unit 2 for that row      __ok2_r0   whether it has been looked at
__c3_r0    a value that is there for all rows at once (similarity of a picture ...)
__e_r0     for a lazy relation: FALSE on a row that stands for a look not yet taken
__lo, __hi on such a row: between which its bounded columns (`schema.relations`) will lie
```
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from reeldb.schema.models import Role
from reeldb.schema.relations import RELATIONS

UnitKind = Literal["column", "heavy", "similarity", "matches", "describe", "status", "rows", "bm25"]
LO, HI = "__lo", "__hi"
NAME = re.compile(r"^__(k|v|ok|c|e)(\d*)_(r\d+)$")


@dataclass(frozen=True, slots=True)
class Unit:
    """`text` is the constant argument of a function, `parameter` the name it was bound under.

    `late` tells a status that is read at the end of the statement.
    """

    relation: str
    kind: UnitKind
    column: str
    text: str = ""
    parameter: str = ""
    late: bool = False

    @property
    def lazy_column(self) -> bool:
        return self.column in RELATIONS[self.relation].names("lazy")

    @property
    def at_once(self) -> bool:
        """Whether all rows get their value at once, for free."""
        if self.kind == "bm25":
            return not self.lazy_column
        return self.kind == "status" or (self.kind == "similarity" and self.column == "image")

    @property
    def type(self) -> str:
        if self.kind in ("column", "heavy"):
            return RELATIONS[self.relation].by_name[self.column].type
        numbers = {"similarity": "DOUBLE", "bm25": "DOUBLE"}
        flags = {"matches": "BOOLEAN", "rows": "BOOLEAN"}
        return (numbers | flags).get(self.kind, "VARCHAR")

    @property
    def cost(self) -> float:
        """A rough rank: the cheaper of two is filled first, and shields the other."""
        base = {"heavy": 0.0, "similarity": 1.0, "matches": 0.5, "describe": 2.0, "rows": 0.7}
        cost = base.get(self.kind, 1.0)
        if self.kind in ("column", "bm25"):
            return {"ocr_text": 0.8, "speech_text": 0.75}.get(self.column, 1.0)
        return cost + (1.0 if self.lazy_column else 0.5 if self.kind == "matches" else 0.0)

    @property
    def setting(self) -> str | None:
        """The name that SET to 'cached' keeps models from making it."""
        if self.at_once or self.kind == "heavy":
            return None
        return {"ocr_text": "ocr", "speech_text": "speech"}.get(self.column, "captions")

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles of the models that make it, the last one last."""
        if self.at_once or self.kind == "heavy":
            return ()
        if self.column in ("ocr_text", "speech_text"):
            return ("ocr",) if self.column == "ocr_text" else ("speech",)
        if self.kind == "matches":
            return ("vision",) if self.column == "image" else ("captioner", "chat")
        return ("captioner",)

    def label(self, scan: str) -> str:
        """How messages and plans name it."""
        if self.kind in ("column", "heavy"):
            return f"{scan}.{self.column}"
        if self.kind == "rows":
            return f"rows of {scan}"
        name = "caption_status" if self.kind == "status" else self.kind
        shown = self.text if len(self.text) <= 40 else self.text[:37] + "..."
        said = f"${self.parameter}" if self.parameter else "'" + shown.replace("'", "''") + "'"
        return f"{name}({scan}.{self.column}{'' if self.kind == 'status' else ', ' + said})"


def key_name(scan: str) -> str:
    return f"__k_{scan}"


def value_name(unit: int, scan: str) -> str:
    return f"__v{unit}_{scan}"


def ok_name(unit: int, scan: str) -> str:
    return f"__ok{unit}_{scan}"


def dense_name(unit: int, scan: str) -> str:
    return f"__c{unit}_{scan}"


def there_name(scan: str) -> str:
    return f"__e_{scan}"


@dataclass(frozen=True, slots=True)
class Slot:
    """A read of a slot: `unit` is its number, or -1 for the rows of a lazy relation."""

    unit: int
    scan: str
    table: str  # the alias through which it is read: the scan or a derived table above it

    @property
    def ok(self) -> exp.Column:
        name = there_name(self.scan) if self.unit < 0 else ok_name(self.unit, self.scan)
        return exp.column(name, self.table)

    @property
    def key(self) -> exp.Column:
        return exp.column(key_name(self.scan), self.table)

    @property
    def looked(self) -> exp.Expr:
        """Whether the value is there; a row that an outer join made up has nothing to fill."""
        return exp.Paren(this=exp.NullSafeNEQ(this=self.ok, expression=exp.false()))


def slot_of(column: exp.Expr) -> Slot | None:
    """The slot that a column reads, if it is the value of one."""
    if not isinstance(column, exp.Column):
        return None
    match = NAME.match(column.name)
    if match is None or match[1] not in ("v", "e"):
        return None
    return Slot(int(match[2]) if match[2] else -1, match[3], column.table)


def is_one_of(column: exp.Expr, units: frozenset[int]) -> bool:
    """Whether a column holds, for all rows at once, the value of one of these units."""
    match = NAME.match(column.name) if isinstance(column, exp.Column) else None
    return match is not None and match[1] == "c" and int(match[2]) in units


def is_dense(column: exp.Column) -> bool:
    """Whether a column holds a value that is there for all rows at once."""
    match = NAME.match(column.name)
    return match is not None and match[1] == "c"


def is_hidden(name: str) -> bool:
    return NAME.match(name) is not None
