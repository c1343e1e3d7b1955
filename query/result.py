"""`Result`: rows, how complete they are, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd
    import polars

Status = Literal["complete", "partial"]
SHOWN_ROWS = 20
SHOWN_WIDTH = 40


@dataclass(slots=True)
class Result:
    """Rows of a statement, read as DuckDB's are.

    `status` is `partial` where a budget ended the looking; then `notes` say why and `stats`
    count what was not looked at.
    """

    table: pa.Table
    columns: list[str]
    status: Status = "complete"
    notes: list[str] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)
    _at: int = 0

    @classmethod
    def of(cls, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Result:
        """A result of plain values, all text or numbers of one type a column."""
        arrays = [pa.array([r[i] for r in rows]) for i in range(len(columns))]
        arrays = [a.cast(pa.string()) if pa.types.is_null(a.type) else a for a in arrays]
        return cls(pa.Table.from_arrays(arrays, list(columns)), list(columns))

    @property
    def types(self) -> list[str]:
        """The DuckDB type of each column."""
        return [type_name(f.type) for f in self.table.schema]

    @property
    def row_count(self) -> int:
        return int(self.table.num_rows)

    def __len__(self) -> int:
        return self.row_count

    def cost(self) -> tuple[int, float | None]:
        """Tokens and dollars that models took; None for dollars that are not known."""
        usd = self.stats.get("usd", 0.0)
        return int(self.stats.get("tokens", 0)), None if usd is None else float(usd)

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table; of two columns of one name the second is `name_1`."""
        return self.table.rename_columns(_distinct(self.columns))

    def df(self) -> pd.DataFrame:
        return self.arrow().to_pandas()

    def pl(self) -> polars.DataFrame:
        import polars

        return polars.DataFrame(polars.from_arrow(self.arrow()))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows from the current one on."""
        rows = self._rows(self._at, self.row_count)
        self._at = self.row_count
        return rows

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, or None after the last."""
        if self._at >= self.row_count:
            return None
        self._at += 1
        return self._rows(self._at - 1, self._at)[0]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._rows(0, self.row_count))

    def _rows(self, start: int, stop: int) -> list[tuple[Any, ...]]:
        part = self.table.slice(start, stop - start)
        if not part.num_columns:
            return [()] * part.num_rows
        return list(zip(*(_values(c) for c in part.columns), strict=True))

    def __repr__(self) -> str:
        rows = [[_cell(v) for v in r] for r in self._rows(0, min(SHOWN_ROWS, self.row_count))]
        widths = [max([len(c), *(len(r[i]) for r in rows)]) for i, c in enumerate(self.columns)]
        lines = [self.columns, ["-" * w for w in widths], *rows]
        text = "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
        more = self.row_count - len(rows)
        end = f"{self.row_count} rows" + (f", {more} not shown" if more else "")
        return f"{text}\n{end}, {self.status}"


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Python values; what DuckDB summed up as HUGEINT is an int again."""
    values: list[Any] = column.to_pylist()
    if pa.types.is_decimal(column.type) and column.type.scale == 0:
        return [None if v is None else int(v) for v in values]
    return values


def _cell(value: object) -> str:
    if isinstance(value, float):
        text = f"{value:.6g}"
    elif isinstance(value, bytes):
        text = f"<{len(value)} bytes>"
    else:
        text = "NULL" if value is None else str(value)
    text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= SHOWN_WIDTH else text[: SHOWN_WIDTH - 3] + "..."


def _distinct(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    out: list[str] = []
    for name in names:
        n = seen.get(name, 0)
        seen[name] = n + 1
        out.append(f"{name}_{n}" if n else name)
    return out


_TYPES: Mapping[str, str] = {
    "string": "VARCHAR", "large_string": "VARCHAR", "int8": "TINYINT", "int16": "SMALLINT",
    "int32": "INTEGER", "int64": "BIGINT", "uint8": "UTINYINT", "uint16": "USMALLINT",
    "uint32": "UINTEGER", "uint64": "UBIGINT", "float": "FLOAT", "double": "DOUBLE",
    "bool": "BOOLEAN", "binary": "BLOB", "large_binary": "BLOB", "null": "NULL",
    "date32[day]": "DATE", "timestamp[us]": "TIMESTAMP",
}  # fmt: skip


def type_name(kind: pa.DataType) -> str:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"{type_name(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        fields = ", ".join(f"{f.name} {type_name(f.type)}" for f in kind)
        return f"STRUCT({fields})"
    if pa.types.is_decimal(kind):
        if kind.scale == 0 and kind.precision == 38:
            return "HUGEINT"
        return f"DECIMAL({kind.precision},{kind.scale})"
    return _TYPES.get(str(kind), str(kind).upper())
