"""Progress on a terminal's last line, and nothing but plain lines anywhere else."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from reeldb.render import escaped


def seconds(value: float) -> str:
    """A wait as people say it.

    >>> seconds(7.2), seconds(95), seconds(7300)
    ('7s', '1m35s', '2h01m')
    """
    whole = round(value)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


class Progress:
    """One line that is rewritten in place, with an ETA once the rate is known.

    Off a terminal only `note` prints, so logs stay short.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._started = time.monotonic()
        self._shown = 0.0
        self._width = 0

    def update(self, what: str, done: float, total: float | None) -> None:
        """Shows `what`, the share done, and the time left; at most ten times a second."""
        now = time.monotonic()
        if not self._live or now - self._shown < 0.1:
            return
        self._shown = now
        parts = [escaped(what)]
        if total:
            share = min(1.0, done / total)
            parts.append(f"{share:4.0%}")
            if share > 0.01:
                parts.append(f"ETA {seconds((now - self._started) * (1 - share) / share)}")
        else:
            parts.append(f"{seconds(done)} of video")
        line = "  ".join(parts)
        self._stream.write("\r" + line + " " * max(0, self._width - len(line)))
        self._stream.flush()
        self._width = len(line)

    def note(self, line: str) -> None:
        """A lasting line above the progress."""
        self.clear()
        print(escaped(line, keep="\n\t"), file=self._stream, flush=True)

    def clear(self) -> None:
        if self._live and self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0
