"""SubRip and WebVTT text to timed lines, forgiving what real files get wrong."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from reeldb.media.container import shown_path
from reeldb.schema.errors import MediaError

_MOST_BYTES = 50_000_000
_STAMP = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})(?:[.,:](\d{1,3}))?"
_TIMING = re.compile(rf"^\s*{_STAMP}\s*-+>\s*{_STAMP}(?:\s.*)?$")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[\d:.]+>|</>|\{\\[^}]*\}")


def read_text(path: Path) -> str:
    """The text of a subtitle file: UTF-8, UTF-16 or, failing those, Latin-1 (Windows)."""
    try:
        with path.open("rb") as f:
            data = f.read(_MOST_BYTES)
    except OSError as error:
        raise MediaError(f"{shown_path(path)}: cannot be read: {error.strerror}") from error
    for encoding in _encodings(data):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _encodings(data: bytes) -> tuple[str, ...]:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return ("utf-16",)
    head = data[:2000]
    if head[1::2].count(0) > len(head) // 4:
        return ("utf-16-le", "utf-8-sig")
    if head[0::2].count(0) > len(head) // 4:
        return ("utf-16-be", "utf-8-sig")
    return ("utf-8-sig", "cp1252")


def parse_captions(text: str) -> Iterator[tuple[float, float, str]]:
    """(start, end, plain text) of every cue that can be read, in the order of the file.

    >>> list(parse_captions("1\\n00:00:01,500 --> 00:00:02,000\\n<i>Hi</i>\\n"))
    [(1.5, 2.0, 'Hi')]
    """
    timing: tuple[float, float] | None = None
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        found = _TIMING.match(line)
        if found:
            if lines and lines[-1].strip().isdigit():
                lines.pop()  # the number of the cue that begins here
            yield from _cue(timing, lines)
            groups = found.groups()
            timing, lines = (_seconds(groups[:4]), _seconds(groups[4:])), []
        elif timing is not None and line.strip():
            lines.append(line)
        else:
            yield from _cue(timing, lines)
            timing, lines = None, []


def plain(text: str) -> str:
    """The text without tags, entities and empty lines."""
    text = html.unescape(_TAG.sub("", text)).replace("\0", "")
    return "\n".join(line for line in (part.strip() for part in text.split("\n")) if line)


def _cue(
    timing: tuple[float, float] | None, lines: list[str]
) -> Iterator[tuple[float, float, str]]:
    text = plain("\n".join(lines))
    if timing is not None and text and timing[1] > timing[0]:
        yield *timing, text


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return whole + float(f"0.{fraction or 0}")
