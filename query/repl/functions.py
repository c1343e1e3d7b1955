"""Functions that sandboxed code may call, and the check of what it hands to them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import get_type_hints

from reeldb.schema.errors import ExecuteError

LONGEST_TEXT = 100_000  # characters of one argument
LONGEST_LIST = 10_000
Call = Callable[..., object]
KINDS: dict[object, str] = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "True or False",
    list[str]: "a list of texts",
    list[str] | None: "a list of texts",
}


class CallError(ExecuteError):
    """A call that cannot be done as it is; the code that made it is told why."""


class Functions:
    """Functions by name. Their annotated parameters are what the check goes by."""

    def __init__(self, *functions: Call) -> None:
        self.by_name = {f.__name__: f for f in functions}
        self._signatures = {n: inspect.signature(f) for n, f in self.by_name.items()}
        self._hints = {n: get_type_hints(f) for n, f in self.by_name.items()}
        for name, signature in self._signatures.items():
            for parameter in signature.parameters:
                if self._hints[name][parameter] not in KINDS:
                    raise TypeError(f"{name}({parameter}) has a type that no check knows")

    def call(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """The function's result. Raises CallError where there is no such function or an argument
        does not fit."""
        if name not in self.by_name:
            raise CallError(f"no function {name}(); there are {', '.join(self.by_name)}")
        signature = self._signatures[name]
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise CallError(f"{name}{signature}: {error}") from None
        for parameter, value in bound.arguments.items():
            wanted = self._hints[name][parameter]
            if not _fits(value, wanted):
                raise CallError(f"{name}({parameter}) takes {KINDS[wanted]}")
        return self.by_name[name](*bound.args, **bound.kwargs)

    def described(self) -> str:
        """One line a function: how it is called, and what it gives."""
        lines = []
        for name, function in self.by_name.items():
            shown = str(self._signatures[name]).replace("'", "")
            about = " ".join((inspect.getdoc(function) or "").split())
            lines.append(f"{name}{shown}: {about}")
        return "\n".join(lines)


def _fits(value: object, wanted: object) -> bool:
    if wanted is bool:
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if wanted is float:
        return isinstance(value, int | float) and abs(value) < 1e15 and math.isfinite(value)
    if wanted is int:
        return isinstance(value, int) and abs(value) < 1 << 60
    if wanted is str:
        return isinstance(value, str) and len(value) <= LONGEST_TEXT
    if value is None:
        return wanted == list[str] | None
    if not isinstance(value, list) or len(value) > LONGEST_LIST:
        return False
    return all(isinstance(v, str) and len(v) <= LONGEST_TEXT for v in value)
