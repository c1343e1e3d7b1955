"""Several statements in one text, as a shell or a script has them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from reeldb.schema.errors import ReelError


def open_quote(text: str) -> int | None:
    """Where the quotation that is still open at the end of the text began.

    >>> open_quote("SELECT 'it''s' FROM \\"a"), open_quote("SELECT ';'")
    (20, None)
    """
    at: int | None = None
    for i, char in enumerate(text):
        if at is None and char in "'\"":
            at = i
        elif at is not None and char == text[at]:
            at = None
    return at


def statements(text: str) -> Iterator[str]:
    """The statements between semicolons that stand outside quotes, empty ones left out.

    >>> list(statements("SELECT ';' ; SET captions = 'cached';;"))
    ["SELECT ';'", "SET captions = 'cached'"]
    """
    start = 0
    for i, char in enumerate(text):
        if char == ";" and open_quote(text[start:i]) is None:
            if text[start:i].strip():
                yield text[start:i].strip()
            start = i + 1
    if text[start:].strip():
        yield text[start:].strip()


def settings_first(text: str) -> tuple[list[str], str]:
    """The SET statements that a text begins with, and the rest as it was written.

    >>> settings_first("SET ocr = 'cached'; SELECT 1; SELECT 2")
    (["SET ocr = 'cached'"], ' SELECT 1; SELECT 2')
    """
    first: list[str] = []
    while text.lstrip()[:4].upper().startswith(("SET ", "SET\n", "SET\t")):
        ends = (i for i, c in enumerate(text) if c == ";" and open_quote(text[:i]) is None)
        end = next(ends, None)
        if end is None or not text[end + 1 :].strip():
            break
        first.append(text[:end].strip())
        text = text[end + 1 :]
    return first, text


def parameters(pairs: Sequence[str]) -> dict[str, object]:
    """`name=value` as values: JSON numbers, true, false and null as such, else text."""
    values: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise ReelError(f"--param {pair}: write NAME=VALUE, or NAME=@FILE for a picture")
        values[name] = _picture(value[1:]) if value.startswith("@") else _scalar(value)
    return values


def _scalar(text: str) -> object:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, list | dict) else value


def _picture(path: str) -> object:
    from reeldb.media.jpeg import read_picture

    return read_picture(Path(path))
