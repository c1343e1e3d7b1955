"""Text and numbers as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from reeldb.render import escaped

NOTHING = "–"  # where there is no number


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: what is shown, and the number behind it, if it is one."""

    text: str
    value: float | None = None

    @property
    def number(self) -> bool:
        return self.value is not None or self.text == NOTHING


def safe(text: str) -> str:
    """Any text as HTML text or an attribute's value; what no page may hold is spelt out.

    >>> safe('<b title="x">' + chr(0))
    '&lt;b title=&quot;x&quot;&gt;\\\\x00'
    """
    return escape(escaped(text, keep="\n"), quote=True)


def share(value: float | None) -> Cell:
    """A number in 0..1 as percent."""
    return Cell(NOTHING) if value is None else Cell(f"{100 * value:.1f} %", value)


def ends(low: float | None, high: float | None) -> str:
    """An interval of shares.

    >>> ends(0.25, 0.9)
    '25.0–90.0 %'
    """
    return NOTHING if low is None or high is None else f"{100 * low:.1f}–{100 * high:.1f} %"


def count(value: int) -> Cell:
    return Cell(f"{value:,}", value)


def mean(value: float | None) -> Cell:
    """A mean a question, with three digits or as a whole number."""
    if value is None:
        return Cell(NOTHING)
    return Cell(f"{value:,.0f}" if value >= 100 else f"{value:.3g}", value)


def usd(value: float | None) -> Cell:
    if value is None:
        return Cell("unknown")
    return Cell(f"{value:.4f}" if value else "0", value)


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table; a number stands right and carries its exact value in `data-value`."""
    top = "".join(f'<th scope="col">{safe(h)}</th>' for h in head)
    body = "\n".join(f"<tr>{''.join(map(_td, row))}</tr>" for row in rows)
    return (
        f'<div class="wide"><table>\n<thead><tr>{top}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def listed(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{safe(i)}</li>" for i in items) + "</ul>"


def _td(cell: Cell) -> str:
    value = "" if cell.value is None else f' data-value="{cell.value!r}"'
    kind = ' class="n"' if cell.number else ""
    return f"<td{kind}{value}>{safe(cell.text)}</td>"
