"""Rows as text: a table for people, JSON, NDJSON or CSV for programs.

Names and text out of videos are data: on a terminal their control characters are shown
escaped, so no caption or file name can move the cursor or recolour the screen.
"""

from __future__ import annotations

import base64
import csv
import datetime as dt
import io
import json
import math
import shutil
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

FORMATS = ("table", "json", "csv", "ndjson")
Row = Sequence[object]


def escaped(text: str, *, keep: str = "") -> str:
    """The text with control, format and lone surrogate characters written as escapes.

    >>> escaped("a" + chr(27) + "[31m")
    'a\\\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(c if c in keep or _safe(c) else _escape(c) for c in text)


def _safe(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def _escape(char: str) -> str:
    code = ord(char)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )


def plain(value: object) -> object:
    """The value as JSON has it: numbers, text, lists and objects; never NaN."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case bytes():
            return base64.b64encode(value).decode()
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case dict():
            return {str(k): plain(v) for k, v in value.items()}
        case list() | tuple():
            return [plain(v) for v in value]
        case None | bool() | int() | float():
            return value
        case _:
            return _utf8(str(value))


def _utf8(text: str) -> str:
    """Text that can be encoded: a file name's undecodable bytes become escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.6g}" if abs(value) >= 1e6 else f"{value:.3f}".rstrip("0").rstrip(".")
        case bytes():
            return f"<{len(value)} bytes>"
        case dict() | list():
            return escaped(json.dumps(plain(value), ensure_ascii=False))
        case dt.datetime():
            return value.isoformat(" ", "seconds")
        case str():
            return escaped(value)
        case _:
            return escaped(str(value))


def width(text: str) -> int:
    """Columns the text takes on a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _fit(text: str, columns: int) -> str:
    if width(text) > columns:
        cut, used = "", 0
        for c in text:
            used += width(c)
            if used >= columns:
                break
            cut += c
        text = cut + "…"
    return text + " " * (columns - width(text))


def table(columns: Sequence[str], rows: Iterable[Row], columns_wide: int | None = None) -> str:
    """A table that fits the terminal; long cells are cut with an ellipsis, never dropped."""
    cells = [[_cell(v) for v in row] for row in rows]
    heads = [escaped(c) for c in columns]
    if not heads:
        return ""
    numeric = [all(_is_number(row[i]) for row in cells) and bool(cells) for i in range(len(heads))]
    wide = [max([width(h), *(width(r[i]) for r in cells)]) for i, h in enumerate(heads)]
    room = (columns_wide or shutil.get_terminal_size((120, 24)).columns) - 2 * (len(wide) - 1)
    while sum(wide) > room and max(wide) > 12:
        wide[wide.index(max(wide))] = max(12, max(wide) - (sum(wide) - room))
    lines = ["  ".join(_fit(h, w) for h, w in zip(heads, wide, strict=True)).rstrip()]
    lines.append("  ".join("─" * w for w in wide))
    for row in cells:
        fitted = [
            c.rjust(w) if right and width(c) <= w else _fit(c, w)
            for c, w, right in zip(row, wide, numeric, strict=True)
        ]
        lines.append("  ".join(fitted).rstrip())
    return "\n".join(lines)


def _is_number(text: str) -> bool:
    if not text:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def records(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[dict[str, object]]:
    """Row objects; a column name that comes twice gets a number, so no value is lost."""
    names: list[str] = []
    for name in columns:
        fresh, n = _utf8(name), 1
        while fresh in names:
            n += 1
            fresh = f"{_utf8(name)}_{n}"
        names.append(fresh)
    for row in rows:
        yield {name: plain(value) for name, value in zip(names, row, strict=True)}


def text(form: str, columns: Sequence[str], rows: Iterable[Row]) -> str:
    """The rows in one of `FORMATS`, without a closing newline."""
    match form:
        case "table":
            return table(columns, rows)
        case "json":
            return json_text(list(records(columns, rows)), indent=1)
        case "ndjson":
            return "\n".join(json_text(r) for r in records(columns, rows))
        case "csv":
            out = io.StringIO()
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow([_utf8(c) for c in columns])
            writer.writerows([_csv(v) for v in row] for row in rows)
            return out.getvalue().rstrip("\n")
        case _:
            raise ValueError(f"no output format {form!r}; known: {', '.join(FORMATS)}")


def json_text(value: object, indent: int | None = None) -> str:
    """JSON that people can read and no terminal obeys: unsafe characters as `\\u` escapes."""
    out = json.dumps(plain(value), ensure_ascii=False, indent=indent)
    return "".join(c if c == "\n" or _safe(c) else _json_escape(c) for c in out)


def _json_escape(char: str) -> str:
    return json.dumps(char)[1:-1] if ord(char) > 126 else f"\\u{ord(char):04x}"


def _csv(value: object) -> object:
    value = plain(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
