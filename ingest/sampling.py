"""Which pictures are kept: one for every grid time, one for every scene.

At a time `t` the picture is the last one shown at or before it. A picture that stays on
screen over several grid times is taken once. Off-grid key pictures are taken from the last
few pictures that are still in memory; those that are gone are left to the caller.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reeldb.ingest.grid import key_ms, middle_ms
from reeldb.schema.settings import grid_ms
from reeldb.schema.spans import Span

if TYPE_CHECKING:
    from reeldb.media.decode import Shown
    from reeldb.schema.models import Vectors


ROUNDING_S = 1e-6
"""A picture this much after a time still counts as shown at it, as `media.pictures` has it."""


@dataclass(slots=True)
class Take:
    """One picture that was kept: its small JPEG and, once `done`, its vector if it has one."""

    thumbnail: bytes
    vector: Vectors | None = None
    done: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """One row of `frames`: the picture `take` at `t_s`; `frame_no` only on the grid."""

    t_s: float
    frame_no: int | None
    take: Take


@dataclass(slots=True)
class Recent:
    """The last pictures shown, as many as `limit` bytes hold, at least one."""

    weigh: Callable[[Shown], int]
    limit: int
    _pictures: deque[tuple[Shown, int]] = field(default_factory=deque)
    _bytes: int = 0

    def push(self, shown: Shown) -> None:
        weight = self.weigh(shown)
        self._pictures.append((shown, weight))
        self._bytes += weight
        while len(self._pictures) > 1 and self._bytes > self.limit:
            self._bytes -= self._pictures.popleft()[1]

    def clear(self) -> None:
        """Lets go of all pictures; they are large, and their owner may live on."""
        self._pictures.clear()
        self._bytes = 0

    @property
    def newest(self) -> Shown | None:
        return self._pictures[-1][0] if self._pictures else None

    def at(self, t_s: float) -> Shown | None:
        """The picture shown at `t_s`, or None where it is no longer here."""
        i = bisect_right(self._pictures, t_s + ROUNDING_S, key=lambda p: p[0].t_s)
        return self._pictures[i - 1][0] if i else None


class Sampler:
    """Samples one video, fed with its pictures in order.

    `samples` grows in time order except for key pictures, which are known later. `missing_s`
    are the times of key pictures that must still be fetched.
    """

    def __init__(self, fps: float, recent: Recent, take: Callable[[Shown], Take]) -> None:
        self._fps = fps
        self._recent = recent
        self._take = take
        self._next = 0
        self._kept: tuple[int, Take] | None = None
        self.samples: list[Sample] = []
        self.missing_s: list[float] = []

    def show(self, shown: Shown) -> None:
        """The next picture: grid times before it belong to the one before."""
        self._grid_until(shown.t_s)
        self._recent.push(shown)

    def end(self, duration_s: float) -> None:
        """No picture follows: the last one stays until `duration_s`."""
        self._grid_until(duration_s)

    def key_s(self, span: Span) -> float:
        """The time of the picture that stands for a scene that is over, and its row if it
        is not on the grid."""
        on_grid = key_ms(span, self._fps)
        if on_grid is not None:
            return on_grid / 1000
        t_s = middle_ms(span) / 1000
        shown = self._recent.at(t_s)
        if shown is None:
            self.missing_s.append(t_s)
        else:
            self._sample(t_s, None, shown)
        return t_s

    def _grid_until(self, t_s: float) -> None:
        shown = self._recent.newest
        while shown is not None:
            at_s = grid_ms(self._fps, self._next) / 1000
            if at_s + ROUNDING_S >= t_s:
                return
            self._sample(at_s, self._next, shown)
            self._next += 1

    def _sample(self, t_s: float, frame_no: int | None, shown: Shown) -> None:
        if self._kept is None or self._kept[0] != shown.index:
            self._kept = shown.index, self._take(shown)
        self.samples.append(Sample(t_s, frame_no, self._kept[1]))
