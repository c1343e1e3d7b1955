"""Networks that stay loaded, shared by all adapters that use the same one."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import TypeVar, cast
from weakref import WeakValueDictionary

T = TypeVar("T")


class _Warm:
    """What is loaded, for as long as an adapter holds it. One thread loads, others wait."""

    def __init__(self) -> None:
        self._kept: WeakValueDictionary[Hashable, object] = WeakValueDictionary()
        self._gates: dict[Hashable, Lock] = {}
        self._guard = Lock()

    def get(self, key: Hashable, load: Callable[[], T]) -> T:
        with self._guard:
            gate = self._gates.setdefault(key, Lock())
        with gate:
            found = self._kept.get(key)
            if found is None:
                found = self._kept[key] = load()
            return cast(T, found)


_WARM = _Warm()


def warm(key: Hashable, load: Callable[[], T]) -> T:
    """What `load()` gave for this key, if somebody still holds it; else a new one."""
    return _WARM.get(key, load)
