"""The page of all figures, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.rows import Row

HEAD = """# Figures

{date}, {machine}.
{versions}.

Every figure is measured beside its baseline, in the same run and in turn with it: the ratio of the
medians, and the range of the single runs. `make bench` makes this page anew.
"""
COLUMNS = ("what", "over", "measured", "goal", "met", "remark")
MARKS = {True: "yes", False: "**no**", None: ""}


def page(
    parts: Mapping[str, Sequence[Row]],
    failed: Mapping[str, str],
    *,
    machine: str,
    versions: str,
    date: str,
) -> str:
    """A table a part; a part that failed says why."""
    out = [HEAD.format(machine=machine, versions=versions, date=date)]
    for name, rows in parts.items():
        out.append(f"## {name}\n\n{table(rows)}\n")
    out += [f"## {name}\n\nfailed: {why}\n" for name, why in failed.items()]
    return "\n".join(out)


def table(rows: Sequence[Row]) -> str:
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    lines += [f"| {' | '.join(_cells(row))} |" for row in rows]
    return "\n".join(lines)


def _cells(row: Row) -> list[str]:
    cells = [row.what, row.over, row.figure, row.goal, MARKS[row.met], row.note]
    return [c.replace("|", "\\|") for c in cells]
