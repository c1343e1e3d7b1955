"""What a file holds, from its header and its first picture."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import av
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from reeldb.media.container import keep_only, open_media, pick_video, shown_path
from reeldb.media.convert import has_alpha
from reeldb.media.decode import Decoding, decoder, drain
from reeldb.media.headers import frame_rate, header_duration_s
from reeldb.media.orient import Orientation, orientation_of, shown_size
from reeldb.media.packets import PacketReader
from reeldb.schema.errors import MediaError

_HDR_TRANSFERS = (16, 18)  # SMPTE ST 2084 (PQ) and ARIB STD-B67 (HLG)
_MOST_PACKETS = 2000


@dataclass(frozen=True, slots=True)
class Probe:
    """Facts about the chosen video stream. `width` and `height` are as shown, `rotation` is
    clockwise, `fps` and `header_duration_s` are the header's claims."""

    stream: int
    codec: str
    coded_width: int
    coded_height: int
    width: int
    height: int
    rotation: int
    mirrored: bool
    sar: Fraction
    fps: float
    has_audio: bool
    hdr: bool
    alpha: bool
    header_duration_s: float | None

    @property
    def orientation(self) -> Orientation:
        return Orientation(self.rotation, self.mirrored, self.sar)


def probe(path: str | os.PathLike[str]) -> Probe:
    """Facts about the file. Raises MediaError where it is no video or nothing decodes."""
    with open_media(path) as container:
        stream = pick_video(container)
        frame = first_frame(container, stream)
        if frame is None:
            raise MediaError(
                f"{shown_path(path)}: no picture of its "
                f"{stream.codec_context.codec.canonical_name} stream can be decoded; it is "
                "damaged, encrypted or only the beginning of a recording"
            )
        return _facts(container, stream, frame)


def start_s(path: str | os.PathLike[str]) -> float:
    """The file's own time of its first shown picture. Raises MediaError as `probe` does."""
    with Decoding(path, threads=1) as decoding:
        next(iter(decoding))
        return decoding.start_pts_s


def first_frame(container: InputContainer, stream: VideoStream) -> VideoFrame | None:
    """The first picture that can be decoded, or None."""
    keep_only(container, stream)
    codec = decoder(stream, threads=1)
    with closing(PacketReader(container, stream)) as reader:
        for packet in islice(reader, _MOST_PACKETS):
            try:
                frames = codec.decode(packet)
            except av.FFmpegError:
                continue
            if frames:
                return frames[0]
        return next(drain(codec), None)


def _facts(container: InputContainer, stream: VideoStream, frame: VideoFrame) -> Probe:
    o = orientation_of(frame, stream.sample_aspect_ratio)
    width, height = shown_size(frame.width, frame.height, o)
    return Probe(
        stream=stream.index,
        codec=stream.codec_context.codec.canonical_name,
        coded_width=frame.width,
        coded_height=frame.height,
        width=width,
        height=height,
        rotation=o.rotation,
        mirrored=o.mirrored,
        sar=o.sar,
        fps=float(frame_rate(stream)),
        has_audio=any(s.codec_context is not None for s in container.streams.audio),
        hdr=frame.color_trc in _HDR_TRANSFERS,
        alpha=has_alpha(frame.format),
        header_duration_s=header_duration_s(stream),
    )
