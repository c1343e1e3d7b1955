"""From a sound's own clock to that of a video."""

from __future__ import annotations

from typing import Any

import numpy as np


def moved(times_s: Any, start_s: Any) -> Any:
    """Times after the first sound as times after the first picture, in whole milliseconds;
    `start_s` is when the sound starts on the video's clock. Works on numbers and arrays."""
    return np.rint((times_s + start_s) * 1000) / 1000
