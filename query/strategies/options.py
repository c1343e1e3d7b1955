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


def share(strategy: str, option: str, value: float, *, below: bool = False) -> None:
    """Raises BindError unless the value lies in 0..1, or in 0..1 without 1 for `below`."""
    if not 0 <= value <= 1 or (below and value == 1):
        most = "below 1" if below else "1"
        raise BindError(f"{strategy}({option} => {value}): {option} is a number from 0 to {most}")
