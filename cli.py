"""`reel`: the command line."""

from __future__ import annotations


def main(argv: list[str] | None = None) -> int:
    raise NotImplementedError
