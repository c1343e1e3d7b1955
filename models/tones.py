"""Loud stretches of a sound and their pitch: what the fakes hear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reeldb.schema.models import Sound

LOUD = 0.01
STEPS = 10  # a second


def loud(sound: Sound, rate: int) -> list[tuple[float, float]]:
    """The stretches, in seconds, whose level in steps of 100 ms is above a hundredth."""
    step = rate // STEPS
    spans: list[tuple[float, float]] = []
    for i in range(0, len(sound), step):
        if float(np.abs(sound[i : i + step]).max()) > LOUD:
            start_s, end_s = i // step / STEPS, min((i // step + 1) / STEPS, len(sound) / rate)
            if spans and spans[-1][1] >= start_s:
                start_s = spans.pop()[0]
            spans.append((start_s, end_s))
    return spans


def pitch(sound: Sound, rate: int, start_s: float, end_s: float) -> int:
    """The strongest frequency of a stretch, in Hz, to the nearest 10."""
    part = sound[int(start_s * rate) : int(end_s * rate)]
    strength = np.abs(np.fft.rfft(part * np.hanning(len(part))))
    return round(float(np.argmax(strength)) * rate / max(1, len(part)) / 10) * 10
