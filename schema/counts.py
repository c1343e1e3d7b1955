"""Numbers of things, as people read them."""

from __future__ import annotations


def counted(count: int, thing: str) -> str:
    """
    >>> counted(1, "video"), counted(2_000, "video")
    ('1 video', '2,000 videos')
    """
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
