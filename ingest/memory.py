"""Handing freed memory back to the system between files."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


def give_back() -> None:
    """Has the C library return what it keeps of freed memory; does nothing where it cannot.

    Every file is decoded by new threads, and glibc keeps what each of them freed for that
    thread's like: over 50 videos the process grew to twice its size without this.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # not glibc
        return None
