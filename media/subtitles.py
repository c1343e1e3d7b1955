"""Subtitles: text tracks inside a file and `.srt` / `.vtt` files beside it.

Times are seconds on the clock of the pictures. Text is plain: markup is taken out, lines stay.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av
from av.container import InputContainer
from av.subtitles.stream import SubtitleStream
from av.subtitles.subtitle import AssSubtitle

from reeldb.media.captionfile import parse_captions, plain, read_text
from reeldb.media.container import has_video, keep_only, open_media
from reeldb.media.packets import demux_on, seconds
from reeldb.media.probe import start_s

_SIDECARS = (".srt", ".vtt")
_LANGUAGE = re.compile(r"\.[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?$")
_OVERRIDE = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True, slots=True)
class Cue:
    """One subtitle. `language` is as the file names it or "", `track` is `stream 2` or the name
    of the file beside the video."""

    start_s: float
    end_s: float
    text: str
    language: str
    track: str


def cues(path: str | os.PathLike[str]) -> list[Cue]:
    """All cues of a video in order of time; what several tracks say alike is told once. Cues
    that cannot be read are left out. Raises MediaError where the video cannot be opened."""
    found: list[Cue] = []
    with open_media(path) as container:
        texts = [s for s in container.streams.subtitles if s.codec_context is not None]
        if texts:
            origin_s = start_s(path) if has_video(container) else 0.0
            found += _embedded(container, texts, origin_s)
    for beside in sidecars(path):
        language = _LANGUAGE.search(beside.stem)
        found += [
            Cue(start, end, text, language.group()[1:] if language else "", beside.name)
            for start, end, text in parse_captions(read_text(beside))
        ]
    first: dict[tuple[float, float, str], Cue] = {}
    for cue in sorted(found, key=lambda cue: (cue.start_s, cue.end_s)):
        first.setdefault((round(cue.start_s, 3), round(cue.end_s, 3), cue.text), cue)
    return list(first.values())


def sidecars(path: str | os.PathLike[str]) -> list[Path]:
    """The subtitle files beside a video: `film.srt`, `film.en.vtt`."""
    video = Path(path)
    try:
        near = sorted(video.parent.iterdir())
    except OSError:
        return []
    return [f for f in near if f.suffix.lower() in _SIDECARS and _belongs(f, video) and f.is_file()]


def _belongs(file: Path, video: Path) -> bool:
    return file.stem == video.stem or (
        file.stem.startswith(video.stem)
        and _LANGUAGE.fullmatch(file.stem[len(video.stem) :]) is not None
    )


def _embedded(
    container: InputContainer, texts: list[SubtitleStream], origin_s: float
) -> Iterator[Cue]:
    keep_only(container, *texts)
    for packet in demux_on(container, *texts):
        stream = packet.stream
        if packet.pts is None or not isinstance(stream, SubtitleStream):
            continue
        try:
            shown = stream.codec_context.decode2(packet)
        except av.FFmpegError:
            continue
        if shown is None:
            continue
        start = seconds(packet.pts, packet.time_base) - origin_s
        length = seconds(packet.duration or 0, packet.time_base) or shown.end_display_time / 1000
        text = "\n".join(t for t in (_text(r) for r in shown if isinstance(r, AssSubtitle)) if t)
        if text and length > 0 and start + length > 0:
            yield Cue(
                max(0.0, start), start + length, text, _language(stream), f"stream {stream.index}"
            )


def _text(subtitle: AssSubtitle) -> str:
    """The words of an ASS event: `ReadOrder,Layer,Style,Name,L,R,V,Effect,Text`."""
    fields = subtitle.ass.decode("utf-8", "replace").split(",", 8)
    text = fields[8] if len(fields) == 9 else subtitle.text.decode("utf-8", "replace")
    if re.search(r"\{[^}]*\\p[1-9]", text):
        return ""  # a drawing, not words
    text = _OVERRIDE.sub("", text)
    return plain(text.replace(r"\N", "\n").replace(r"\n", "\n").replace(r"\h", " "))


def _language(stream: SubtitleStream) -> str:
    language = stream.language or ""
    return "" if language == "und" else language
