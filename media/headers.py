"""What a file's header claims. Used for progress, estimates and names of rates, never as fact."""

from __future__ import annotations

from fractions import Fraction

from av.container import InputContainer
from av.video.stream import VideoStream

DEFAULT_RATE = Fraction(25)


def frame_rate(stream: VideoStream) -> Fraction:
    """Pictures a second as the header tells it, or 25 where that is missing or absurd."""
    for rate in (stream.average_rate, stream.guessed_rate):
        if rate and Fraction(1, 1000) <= rate <= 480:
            return rate
    return DEFAULT_RATE


def header_duration_s(stream: VideoStream) -> float | None:
    """The length that the header claims, None where it claims none. It may be wrong."""
    length = None
    if stream.duration and stream.time_base:
        length = float(stream.duration * stream.time_base)
    elif (tag := stream.metadata.get("DURATION")) and tag.count(":") == 2:
        hours, minutes, rest = tag.split(":")
        try:
            length = int(hours) * 3600 + int(minutes) * 60 + float(rest)
        except ValueError:
            length = None
    container = stream.container
    if length is None and isinstance(container, InputContainer) and container.duration:
        length = container.duration / 1_000_000
    return length if length is not None and 0 < length < 1e7 else None
