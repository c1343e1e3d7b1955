"""Small videos that tests make, and ways to break them. Everything is written by PyAV."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from av.container import InputContainer, OutputContainer
from av.video.stream import VideoStream
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Colour = str | tuple[int, int, int]
Tone = tuple[float, float, int]  # start and end in seconds, Hz

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (255, 0, 0),
    "lime": (0, 255, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "gray": (128, 128, 128),
    "yellow": (255, 255, 0),
    "magenta": (255, 0, 255),
    "cyan": (0, 255, 255),
    "orange": (255, 128, 0),
}
CLOCK = Fraction(1, 90_000)
_BITS, _ROWS = 24, 3  # a time code is 24 bits of milliseconds, 3 rows of 8 blocks


def rgb(colour: Colour) -> tuple[int, int, int]:
    return COLOURS[colour] if isinstance(colour, str) else colour


def solid(colour: Colour, size: tuple[int, int] = (160, 120), text: str = "") -> Picture:
    """A picture of one colour, with black or white text in the middle of it."""
    picture = np.full((size[1], size[0], 3), rgb(colour), np.uint8)
    if text:
        ink = (0, 0, 0) if sum(rgb(colour)) > 384 else (255, 255, 255)
        scale = size[0] / (22 * max(4, len(text)))
        where = (round(size[0] * 0.05), size[1] // 2)
        cv2.putText(picture, text, where, cv2.FONT_HERSHEY_SIMPLEX, scale, ink, 1, cv2.LINE_AA)
    return picture


def make_clip(
    path: Path,
    scenes: Sequence[tuple[Colour, float]],
    *,
    fps: float = 25,
    size: tuple[int, int] = (160, 120),
    codec: str = "libx264",
    pix_fmt: str = "yuv420p",
    gop: int = 50,
    bframes: int = 2,
    options: Mapping[str, str] | None = None,
    rotate: int = 0,
    mirror: bool = False,
    sound: bool | Sequence[Tone] = False,
    start_s: float = 0.0,
    text: str | Sequence[str] = "",
    **more: Any,
) -> Path:
    """A video of one colour a scene: `scenes` are (colour, seconds). `rotate` is how far a
    player turns it clockwise, `text` is drawn on every scene, or on each its own; `more` goes
    to `write_clip`."""
    rate = Fraction(fps).limit_denominator(1001)
    texts = [text] * len(scenes) if isinstance(text, str) else list(text)

    def pictures() -> Iterator[tuple[float, Picture]]:
        shown, end = 0, 0.0
        for (colour, seconds), words in zip(scenes, texts, strict=True):
            end += seconds
            picture = solid(colour, size, words)
            while shown / rate < end - 1e-6:
                yield float(shown / rate) + start_s, picture
                shown += 1

    return write_clip(
        path, pictures(), fps=rate, codec=codec, pix_fmt=pix_fmt, gop=gop, bframes=bframes,
        options=options, rotate=rotate, mirror=mirror, sound=sound, **more,
    )  # fmt: skip


def timecode_clip(
    path: Path, times_s: Sequence[float], *, size: tuple[int, int] = (160, 120), **how: Any
) -> Path:
    """A video whose picture at each of `times_s` carries that time; see `read_timecode`.
    `how` goes to `write_clip`."""
    return write_clip(path, ((t, timecode(t, size)) for t in times_s), **how)


def timecode(t_s: float, size: tuple[int, int] = (160, 120)) -> Picture:
    """A picture that carries `t_s`, in whole milliseconds, as black and white blocks."""
    ms = round(t_s * 1000)
    bits = [ms >> i & 1 for i in range(_BITS)]
    blocks = np.array(bits, np.uint8).reshape(_ROWS, -1) * 255
    grey = cv2.resize(blocks, size, interpolation=cv2.INTER_NEAREST)
    return np.ascontiguousarray(np.repeat(grey[:, :, None], 3, axis=2))


def read_timecode(image: Picture) -> float:
    """The time in seconds that a `timecode` picture of any size carries."""
    height, width = image.shape[:2]
    columns = _BITS // _ROWS
    bits = [
        int(image[height * (2 * (i // columns) + 1) // (2 * _ROWS),
                  width * (2 * (i % columns) + 1) // (2 * columns)].mean() > 127)
        for i in range(_BITS)
    ]  # fmt: skip
    return sum(bit << i for i, bit in enumerate(bits)) / 1000


def write_clip(
    path: Path,
    pictures: Iterable[tuple[float, Picture]],
    *,
    fps: Fraction | float = 25,
    codec: str = "libx264",
    pix_fmt: str = "yuv420p",
    gop: int = 50,
    bframes: int = 2,
    options: Mapping[str, str] | None = None,
    rotate: int = 0,
    mirror: bool = False,
    sar: Fraction | None = None,
    sound: bool | Sequence[Tone] = False,
    container: Mapping[str, str] | None = None,
) -> Path:
    """A video of these (time in seconds, RGB picture), in rising order of time; `container`
    are the muxer's options. `sound` is a beep every other second, or tones of (start, end, Hz)."""
    rate = Fraction(fps).limit_denominator(1001)
    shown = iter(pictures)
    t_s, picture = next(shown)
    with av.open(str(path), "w", options=dict(container or {})) as out:
        stream = out.add_stream(codec, rate=rate, options=dict(options or {}))
        assert isinstance(stream, VideoStream)
        context, tick = stream.codec_context, _clock(codec, rate)
        context.height, context.width = picture.shape[:2]
        context.pix_fmt, context.time_base = pix_fmt, tick
        context.gop_size, context.thread_count = gop, 1
        if "x26" in codec or codec.startswith("mpeg"):
            context.max_b_frames = bframes
        if sar:
            context.sample_aspect_ratio = sar
        if rotate or mirror:
            # Mirrored first, then turned; PyAV counts the other way round and flips last.
            stream.set_display_rotation(rotate if mirror else -rotate, hflip=mirror)
        voice = out.add_stream("aac", rate=16_000, layout="mono") if sound else None
        for t_s, picture in chain([(t_s, picture)], shown):  # noqa: B020
            frame = av.VideoFrame.from_ndarray(picture, "rgb24")
            frame.pts, frame.time_base = round(t_s / tick), tick
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
        if voice is not None:
            end_s = t_s + float(1 / rate)
            beeps = [(float(s), s + 1.0, 440) for s in range(0, int(end_s) + 1, 2)]
            _play(out, voice, end_s, beeps if sound is True else sound or ())
    return path


def _clock(codec: str, rate: Fraction) -> Fraction:
    return 1 / rate if codec.startswith(("mpeg", "msmpeg")) else CLOCK


def _play(
    out: OutputContainer, voice: av.AudioStream, seconds: float, tones: Sequence[Tone]
) -> None:
    """These tones, and silence between them."""
    rate = 16_000
    t = np.arange(round(seconds * rate)) / rate
    wave = np.zeros(len(t), np.float32)
    for start_s, end_s, hz in tones:
        wave += np.where((t >= start_s) & (t < end_s), 0.5 * np.sin(2 * np.pi * hz * t), 0)
    for at in range(0, len(wave), 1024):
        frame = av.AudioFrame.from_ndarray(wave[None, at : at + 1024], "fltp", "mono")
        frame.sample_rate, frame.pts, frame.time_base = rate, at, Fraction(1, rate)
        out.mux(voice.encode(frame))
    out.mux(voice.encode(None))


def remux(src: Path, dst: Path, *, options: Mapping[str, str] | None = None) -> Path:
    """The same packets in another container, like `ffmpeg -c copy` (hidden ones as well)."""
    with av.open(str(src)) as source, av.open(str(dst), "w", options=dict(options or {})) as out:
        assert isinstance(source, InputContainer)
        kept = [s for s in source.streams if s.type in ("video", "audio", "subtitle")]
        made = {s.index: out.add_stream_from_template(s) for s in kept}
        for packet in source.demux(kept):
            if packet.size:
                packet.stream = made[packet.stream.index]
                out.mux_one(packet)
    return dst


def join(parts: Sequence[Path], dst: Path) -> Path:
    """The files' bytes one after the other: of transport streams, one whose clock restarts."""
    dst.write_bytes(b"".join(part.read_bytes() for part in parts))
    return dst


def edit(src: Path, dst: Path, spans: Sequence[tuple[float, float]]) -> Path:
    """The MP4 file with an edit list that shows only these (start, length) in seconds."""
    data = bytearray(src.read_bytes())

    def number(at: int) -> int:
        return int.from_bytes(data[at : at + 4], "big")

    movie, media = (number(data.index(box) + 16) for box in (b"mvhd", b"mdhd"))
    begin = data.index(b"elst") - 4
    end, first = begin + number(begin), number(begin + 20)
    entries = [
        round(length * movie).to_bytes(4, "big")
        + (first + round(start * media)).to_bytes(4, "big")
        + (1 << 16).to_bytes(4, "big")
        for start, length in spans
    ]
    grown = 12 * (len(spans) - number(begin + 12))
    for box in (b"moov", b"trak", b"edts", b"elst"):
        at = data.index(box) - 4
        data[at : at + 4] = (number(at) + grown).to_bytes(4, "big")
    data[begin + 12 : end] = len(spans).to_bytes(4, "big") + b"".join(entries)
    dst.write_bytes(data)
    return dst


def truncate(src: Path, dst: Path, fraction: float) -> Path:
    """The first `fraction` of the file's bytes."""
    data = src.read_bytes()
    dst.write_bytes(data[: round(len(data) * fraction)])
    return dst


def corrupt(src: Path, dst: Path, start: float = 0.45, stop: float = 0.55, seed: int = 1) -> Path:
    """The file with the bytes between two fractions of it replaced by noise."""
    data = bytearray(src.read_bytes())
    a, b = round(len(data) * start), round(len(data) * stop)
    data[a:b] = random.Random(seed).randbytes(b - a)
    dst.write_bytes(data)
    return dst


def near(image: Picture, colour: Colour, within: int = 30) -> bool:
    """Whether the middle of the picture has that colour, give or take what a codec does."""
    height, width = image.shape[:2]
    middle = image[height // 3 : 2 * height // 3, width // 3 : 2 * width // 3]
    return bool(np.all(np.abs(middle.reshape(-1, 3).mean(0) - rgb(colour)) <= within))


def steps(seconds: float, fps: float = 25, start_s: float = 0.0) -> list[float]:
    """The times of pictures at a constant rate."""
    return [start_s + i / fps for i in range(round(seconds * fps))]
