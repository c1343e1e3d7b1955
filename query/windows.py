"""The windows in which a sound is listened to, on the sound's own clock.

A window is 30 s and the next begins 25 s later, so every moment but the first and last few is
heard with at least 2.5 s round it. What is said in the overlap is heard twice: each window has
a *core*, from the middle of one overlap to the middle of the next, and only what lies in its
core counts. Cores tile the sound, so which rows a window gives does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from reeldb.schema.models import Heard, Word

WINDOW_MS = 30_000
STEP_MS = 25_000
EDGE_MS = (WINDOW_MS - STEP_MS) // 2


def core_ms(number: int) -> tuple[int, int]:
    """`[start, end)` of what counts of a window, in milliseconds from the first sound."""
    end = (number + 1) * STEP_MS + EDGE_MS
    return (number * STEP_MS + EDGE_MS if number else 0), end


def windows_of(start_s: float, end_s: float) -> range:
    """The numbers of the windows whose cores meet `[start_s, end_s)`, on the sound's clock."""
    if end_s <= max(0.0, start_s):
        return range(0)
    return range(_at(start_s, last=False), _at(end_s, last=True) + 1)


def _at(t_s: float, *, last: bool) -> int:
    """The window whose core holds a time; at the border of two, with `last`, the earlier."""
    number = max(0, int((t_s * 1000 - EDGE_MS) // STEP_MS))
    return number - 1 if last and number and core_ms(number)[0] >= t_s * 1000 else number


def clipped(number: int, heard: Heard) -> Heard | None:
    """A stretch of a window, on the sound's clock and cut to the window's core.

    It is cut between words: at the times that the model gives, else as if all characters took
    the same time, and then a word at the border may be lost or counted twice.
    None where no word of it lies in the core.
    """
    start, end = (ms / 1000 for ms in core_ms(number))
    offset_s = number * STEP_MS / 1000
    words = [
        Word(w.start_s + offset_s, w.end_s + offset_s, w.text)
        for w in (heard.words or spread(heard))
    ]
    kept = [w for w in words if start <= (w.start_s + w.end_s) / 2 < end]
    if not kept:
        return None
    whole = len(kept) == len(words)
    first_s = heard.start_s + offset_s if whole else kept[0].start_s
    last_s = heard.end_s + offset_s if whole else kept[-1].end_s
    first_s = min(max(first_s, start), end)
    return Heard(
        first_s,
        max(first_s, min(last_s, end)),
        heard.text if whole else " ".join(w.text for w in kept),
        heard.confidence,
        heard.language,
    )


def spread(heard: Heard) -> Iterator[Word]:
    """The words of a stretch, as if all its characters took the same time."""
    texts = heard.text.split()
    length = sum(len(t) + 1 for t in texts)
    step_s = (heard.end_s - heard.start_s) / max(1, length)
    at = 0
    for text in texts:
        start_s = heard.start_s + at * step_s
        at += len(text) + 1
        yield Word(start_s, heard.start_s + at * step_s, text)
