"""How close two cuts may be: rules over candidate times, in seconds."""

from __future__ import annotations

from typing import Protocol


class Spacing(Protocol):
    """Candidates in, cuts out; both in rising order."""

    def candidate(self, t_s: float) -> list[float]:
        """The cuts that are certain now that a candidate came at `t_s`."""
        ...

    def quiet(self, now_s: float) -> list[float]:
        """The cuts that are certain now that no other candidate came up to `now_s`."""
        ...

    def finish(self) -> list[float]:
        """The cuts that are certain because the video is over."""
        ...

    def settled_s(self, now_s: float) -> float:
        """The time before which no further cut can lie, with candidates known to `now_s`."""
        ...


class Suppress:
    """A candidate is a cut unless it comes less than `length_s` after the last cut."""

    def __init__(self, length_s: float) -> None:
        self._length = length_s
        self._cut: float | None = None

    def candidate(self, t_s: float) -> list[float]:
        if self._cut is not None and t_s - self._cut < self._length:
            return []
        self._cut = t_s
        return [t_s]

    def quiet(self, now_s: float) -> list[float]:
        return []

    def finish(self) -> list[float]:
        return []

    def settled_s(self, now_s: float) -> float:
        return now_s


class Merge:
    """PySceneDetect's merging flash filter: a burst of candidates, each less than `length_s`
    after the one before, gives a cut at its first; and one at its last where what lies after
    the first is itself at least `length_s` long. So a flash or a fade makes one boundary.
    """

    def __init__(self, length_s: float) -> None:
        self._length = length_s
        self._last: float | None = None  # the latest candidate
        self._second: float | None = None  # where the open burst goes on after its first

    def candidate(self, t_s: float) -> list[float]:
        done = self.quiet(t_s)
        if self._last is None or t_s - self._last >= self._length:
            self._last = t_s
            return [*done, t_s]
        self._last = t_s
        if self._second is None:
            self._second = t_s
        return done

    def quiet(self, now_s: float) -> list[float]:
        if self._last is None or now_s - self._last < self._length:
            return []
        return self.finish()

    def finish(self) -> list[float]:
        second, self._second = self._second, None
        if second is None or self._last is None or self._last - second < self._length:
            return []
        return [self._last]

    def settled_s(self, now_s: float) -> float:
        return now_s if self._second is None or self._last is None else self._last
