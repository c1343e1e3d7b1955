"""Checks of options, with messages that name the option and what is possible."""

from __future__ import annotations

from collections.abc import Sequence

from reeldb.schema.errors import BindError


def count(strategy: str, option: str, value: object, least: int, most: int) -> None:
    """Raises BindError unless the value is a whole number from `least` to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BindError(
            f"{strategy}({option} => {value}): {option} is a whole number from {least} to {most}"
        )


def one_of(strategy: str, option: str, value: object, known: Sequence[str]) -> None:
    """Raises BindError unless the value is one of these words."""
    if value not in known:
        raise BindError(f"{strategy}({option} => {value!r}): possible are {', '.join(known)}")


def positive(strategy: str, option: str, value: float | None) -> None:
    """Raises BindError unless the value is None or above 0."""
    if value is not None and not value > 0:
        raise BindError(f"{strategy}({option} => {value}): {option} is a number above 0")


def within(
    strategy: str, option: str, value: float, most: float = 1, *, below: bool = False
) -> None:
    """Raises BindError unless 0 <= value <= most, or 0 <= value < most for `below`."""
    if not 0 <= value <= most or (below and value == most):
        end = f"below {most:g}" if below else f"{most:g}"
        raise BindError(f"{strategy}({option} => {value}): {option} is a number from 0 to {end}")
