"""What a query may be made of: an allow-list of syntax nodes, their parts, and functions.

A statement can read the archive and nothing else, so anything that is not listed is refused,
by name and position, before an engine sees it.
"""

from __future__ import annotations

import re

from sqlglot import exp

from reeldb.query.extent import check_extent
from reeldb.query.functions import ALL_NAMES, is_available, name_of
from reeldb.query.growth import check_growth
from reeldb.schema.errors import ParseError, near

_NODES = """
Select From Join Where Group Having Qualify Order Ordered Limit Offset LimitOptions Distinct With
CTE TableAlias Subquery Table Column Identifier Star Alias Aliases Literal Boolean Null
Placeholder Paren Tuple And Or Not EQ NEQ GT GTE LT LTE NullSafeEQ NullSafeNEQ Is In Between Like
ILike Escape Exists Any All Case If Add Sub Mul Div IntDiv Mod Neg DPipe Cast TryCast DataType
DataTypeParam ColumnDef Union Except Intersect Window WindowSpec Windows Filter WithinGroup
Anonymous Kwarg PropertyEQ Var Interval IntervalSpan Bracket Slice Array Struct Lambda Dot Values
Lateral Unnest Glob RegexpLike Comprehension Grouping Cube Rollup GroupingSets SimilarTo
IgnoreNulls RespectNulls Extract BitwiseAnd BitwiseOr BitwiseXor BitwiseLeftShift
BitwiseRightShift BitwiseNot ToMap JSONPath JSONPathRoot JSONPathKey JSONPathSubscript
JSONPathSelector JSONPathSlice JSONPathWildcard
"""
NODES = frozenset(_NODES.split())

# A part that is not listed here and not empty is refused: INTO, SAMPLE, PIVOT, hints ...
_PARTS_TEXT = """
Select: with_ expressions from_ joins where group having qualify windows order limit offset distinct
Table: this db alias joins
Subquery: this alias with_ order limit offset joins
Join: this on side kind using method
Union: with_ this expression distinct by_name order limit offset side kind on
Except: with_ this expression distinct by_name order limit offset side kind on
Intersect: with_ this expression distinct by_name order limit offset side kind on
With: expressions
CTE: this alias materialized
Star: except_ replace rename
Group: expressions all grouping_sets cube rollup totals
Unnest: expressions alias offset
Lateral: this alias view outer
Values: expressions alias order limit offset
"""
_PARTS = {
    line.partition(":")[0]: frozenset(line.partition(":")[2].split())
    for line in _PARTS_TEXT.strip().splitlines()
}
# Types that a value can be cast to; any other name would reach DuckDB as it is written.
_TYPES_TEXT = """
BOOLEAN TINYINT SMALLINT INT BIGINT INT128 UTINYINT USMALLINT UINT UBIGINT UINT128 FLOAT DOUBLE
DECIMAL CHAR NCHAR VARCHAR NVARCHAR TEXT BINARY VARBINARY BLOB DATE TIME TIMETZ TIMESTAMP
TIMESTAMPTZ TIMESTAMPNTZ TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS INTERVAL UUID JSON LIST ARRAY
STRUCT MAP NULL DATETIME
"""
TYPES = frozenset(_TYPES_TEXT.split())
_WORD = re.compile(r"[A-Za-z_]\w*|CURRENT ROW|NO OTHERS", re.ASCII)

_NODES_SAID = {"ByteString": "E'...'", "National": "N'...'", "PositionalColumn": "#1"}
_SAID = {"into": "SELECT INTO", "sample": "SAMPLE", "pivots": "PIVOT", "laterals": "LATERAL VIEW"}


def validate(tree: exp.Expr, sql: str) -> None:
    """Raises ParseError, with a position, for the first thing that is not in the language."""
    for node in tree.walk():
        kind = type(node).__name__
        if isinstance(node, exp.Func) and kind not in ("And", "Or", "Case", "Cast", "TryCast"):
            if not is_available(node):
                raise _refused(node, sql, f"function {name_of(node)}() is not available", ALL_NAMES)
        elif kind not in NODES:
            said = _NODES_SAID.get(kind, kind.upper())
            raise _refused(node, sql, f"{said} is not part of the language")
        _check_parts(node, kind, sql)
        _check_place(node, sql)
        _check_word(node, sql)

    def refuse(node: exp.Expr, message: str) -> ParseError:
        return _refused(node, sql, message)

    check_extent(tree, refuse)
    check_growth(tree, refuse)


def _check_parts(node: exp.Expr, kind: str, sql: str) -> None:
    allowed = _PARTS.get(kind)
    if allowed is None:
        return
    for part, value in node.args.items():
        if part in allowed or value is None or value is False or value == []:
            continue
        if part == "recursive":
            raise _refused(node, sql, "WITH RECURSIVE is not available: it can run without end")
        said = _SAID.get(part, f"{kind.upper()} with {part.rstrip('_').upper()}")
        raise _refused(node, sql, f"{said} is not available")
    if isinstance(node, exp.Join) and node.method in ("ASOF", "POSITIONAL"):
        raise _refused(node, sql, f"{node.method} JOIN is not available")


def _check_place(node: exp.Expr, sql: str) -> None:
    """Queries stand only where the binder looks for them."""
    query = node.parent if isinstance(node, exp.Query) else None
    while query is not None and not isinstance(query, exp.Query):
        if isinstance(query, (exp.Limit, exp.Offset)):
            name = type(query).__name__.upper()
            raise _refused(node, sql, f"{name} wants a number, not a query")
        if isinstance(query, exp.Order) and isinstance(query.parent, exp.SetOperation):
            raise _refused(node, sql, "ORDER BY after a set operation takes columns, not a query")
        query = query.parent


def _check_word(node: exp.Expr, sql: str) -> None:
    """What the printer writes as it is must be one word: names without quotes, units, types."""
    if isinstance(node, exp.DataType):
        kind = node.this.name if isinstance(node.this, exp.DType) else str(node.this)
        if kind not in TYPES:
            name = str(node.args.get("kind") or kind)
            raise _refused(node, sql, f"type {name[:40]!r} is not available")
    elif isinstance(node, exp.DataTypeParam):
        if not isinstance(node.this, exp.Literal) or node.this.is_string:
            raise _refused(node, sql, "a type takes whole numbers, such as DECIMAL(10, 2)")
    elif isinstance(node, exp.Var):
        if not _WORD.fullmatch(node.name):
            raise _refused(node, sql, f"{node.name[:40]!r} cannot stand here")
    elif isinstance(node, exp.Identifier) and not node.quoted:
        name = str(node.this)
        if not f"_{name.replace('$', '_')}".isidentifier():
            raise _refused(node, sql, f"{name[:40]!r} is no plain name: put it into double quotes")


def offset_of(node: exp.Expr) -> int | None:
    """Where in the text a node (or the first named thing in it) stands."""
    starts = [n.meta["start"] for n in node.walk() if n._meta and "start" in n.meta]
    return min(starts) if starts else None


def place_of(node: exp.Expr, sql: str) -> str:
    """` (line 1, column 8)`, or nothing where the tree does not know."""
    from reeldb.query.parse import position

    offset = offset_of(node)
    return "" if offset is None else f" {position(sql, offset)}"


def _refused(
    node: exp.Expr, sql: str, message: str, known: frozenset[str] | None = None
) -> ParseError:
    hint = ""
    if known is not None and (close := near(name_of(node), known)).startswith("did"):
        hint = f"; {close}"
    return ParseError(f"{message}{place_of(node, sql)}{hint}")
