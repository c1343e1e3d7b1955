"""What a strategy may cost, before it runs: its operators with their worst cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Shape:
    """What a bound depends on: grid pictures in the scope, videos they are of, whether a chat
    or vision model reasons (else similarity does, which makes no call), whether it takes
    pictures, and how many scenes the pictures lie in (0: not known)."""

    pictures: int
    videos: int = 1
    chat: bool = False
    sees: bool = True
    step_s: float = 1.0
    scenes: int = 0

    def thinned(self, fps: float | None) -> Shape:
        """The shape of the grid that `Grid.stride` leaves."""
        every = max(1, round(1 / (fps * self.step_s))) if fps else 1
        return replace(self, pictures=-(-self.pictures // every), step_s=self.step_s * every)


@dataclass(frozen=True, slots=True)
class Line:
    """One operator: captions and model calls at most, and what they are for. `kind` is that of
    its captions in the ledger."""

    operator: str
    captions: int = 0
    calls: int = 0
    about: str = ""
    kind: str = "frame"


def captions_of(lines: Sequence[Line]) -> int:
    return sum(line.captions for line in lines)


def calls_of(lines: Sequence[Line]) -> int:
    return sum(line.calls for line in lines)
