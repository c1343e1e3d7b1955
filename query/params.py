"""Parameters: `?`, `$1` and `$name` become named ones, each bound and never pasted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from sqlglot import exp

from reeldb.query.growth import check_growth, units
from reeldb.schema.errors import BindError, near

Parameters = Sequence[object] | Mapping[str, object]


def bind_parameters(tree: exp.Query, given: Parameters) -> dict[str, object]:
    """Names the placeholders in `tree` and gives their values by name.

    `?` are `$p1`, `$p2` ... since they were parsed, `$1` becomes `$p1` here. LIMIT and OFFSET
    take their number at once, so that a plan can stop early. Raises BindError for a value that
    is missing or left over.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BindError("parameters are a list or a mapping, not one text or number: write [value]")
    holes = [*tree.find_all(exp.Placeholder)]
    values = _by_name(given, holes)
    used: dict[str, object] = {}
    for hole in holes:
        name = str(hole.this)
        if name not in values:
            kind = "list" if name.startswith("p") and name[1:].isdigit() else "mapping"
            known = f"; {near(name, [str(k) for k in values])}" if values else ""
            shown = name[1:] if kind == "list" else name
            raise BindError(f"no value for the parameter ${shown}{known}")
        used[name] = values[name]
        _at_once(hole, values[name])
    left = sorted(set(values) - set(used))
    if left:
        raise BindError(f"the statement has no parameter {_shown(left[0], given)}")
    _check_sizes(tree, used)
    return used


def _check_sizes(tree: exp.Query, used: Mapping[str, object]) -> None:
    """A large parameter counts where the statement repeats it."""
    sizes = {name: units(value) for name, value in used.items()}
    if max(sizes.values(), default=1.0) > 1:
        check_growth(tree, lambda _, why: BindError(f"with these parameters {why}"), sizes)


def _by_name(given: Parameters, holes: Sequence[exp.Placeholder]) -> dict[str, object]:
    """The values by the names of the placeholders, which are set as a side."""
    for hole in holes:
        if str(hole.this).isdigit():
            hole.set("this", f"p{hole.this}")
    if isinstance(given, Mapping):
        return {(f"p{k}" if str(k).isdigit() else str(k)): v for k, v in given.items()}
    return {f"p{i}": v for i, v in enumerate(given, 1)}


def _at_once(hole: exp.Placeholder, value: object) -> None:
    if not isinstance(hole.parent, (exp.Limit, exp.Offset)):
        return
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 0:
        raise BindError(f"LIMIT and OFFSET take a whole number of 0 or more, not {value!r}")
    hole.replace(exp.Literal.number(int(value)))


def _shown(name: str, given: Parameters) -> str:
    return f"${name}" if isinstance(given, Mapping) else f"number {name[1:]}"


def for_duckdb(values: Mapping[str, object]) -> dict[str, object]:
    """The values that DuckDB can hold: pictures are used up before it runs."""
    out: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(value, np.generic):
            out[name] = value.item()
        elif not isinstance(value, np.ndarray):
            out[name] = value
    return out
