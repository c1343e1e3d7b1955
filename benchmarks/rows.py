"""One figure of a benchmark: a ratio over a baseline of the same run, and the goal it has."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.timing import Timed


@dataclass(frozen=True, slots=True)
class Row:
    """`value` in `unit` ("x" is a ratio over `over`), the range it came in, and its bounds."""

    what: str
    over: str
    value: float
    unit: str = "x"
    low: float | None = None
    high: float | None = None
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the value keeps its bounds; None where it has none."""
        if self.at_most is None and self.at_least is None:
            return None
        above = self.at_least is None or self.value >= self.at_least
        return above and (self.at_most is None or self.value <= self.at_most)

    @property
    def figure(self) -> str:
        """The value and its range as people read them: `1.07x (1.06-1.09)`."""
        if self.low is None or self.high is None:
            return f"{number(self.value)}{self._unit}"
        return f"{number(self.value)}{self._unit} ({number(self.low)}-{number(self.high)})"

    @property
    def goal(self) -> str:
        """The bounds as people read them, empty without one."""
        if self.at_most is not None and self.at_least is not None:
            return f"{number(self.at_least)}-{number(self.at_most)}{self._unit}"
        if self.at_most is not None:
            return f"<= {number(self.at_most)}{self._unit}"
        return "" if self.at_least is None else f">= {number(self.at_least)}{self._unit}"

    @property
    def _unit(self) -> str:
        return self.unit if self.unit in ("", "x", "%") else f" {self.unit}"


def ratio(
    what: str,
    over: str,
    timed: Timed,
    base: Timed,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    note: str = "",
) -> Row:
    """The wall ratio of the medians, with the range of the pairs of runs."""
    pairs = sorted(a.wall_s / b.wall_s for a, b in zip(timed.runs, base.runs, strict=True))
    value = timed.wall_s / base.wall_s
    return Row(what, over, value, "x", pairs[0], pairs[-1], at_most, at_least, note)


def number(value: float) -> str:
    """Three digits, but no fraction from a hundred on.

    >>> number(0.01234), number(1.5), number(2049.7)
    ('0.0123', '1.5', '2,050')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
