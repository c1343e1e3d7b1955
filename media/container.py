"""Opening a file as what it is: one local media file, never a list of other files.

FFmpeg happily follows playlists, concat scripts and numbered picture patterns to *other*
files, whatever the name ends with. So the first bytes are looked at before anything is
opened, only demuxers that read one file are allowed, and the only protocol is `file`.
"""

from __future__ import annotations

import os
from pathlib import Path

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.video.stream import VideoStream

from reeldb.schema.errors import MediaError

FORMATS = (
    "mov", "mp4", "matroska", "webm", "mpegts", "mpeg", "mpegvideo", "avi", "flv", "live_flv",
    "asf", "asf_o", "ogg", "nut", "mxf", "gxf", "rm", "wtv", "dv", "gif", "apng", "mjpeg", "ivf",
    "obu", "av1", "h264", "hevc", "vvc", "h263", "h261", "m4v", "vc1", "dirac", "cavsvideo",
    "yuv4mpegpipe", "nuv", "nsv", "pva", "ty", "avs2", "avs3", "evc", "dhav", "bink", "smk", "roq",
    "amv", "kux", "swf", "film_cpk", "mpjpeg", "webp", "avif", "jpegxl_anim",
    # Sound, so that such a file is told "audio only" and its sound can be read.
    "mp3", "wav", "w64", "flac", "aac", "ac3", "eac3", "aiff", "au", "caf", "amr", "ape", "wv",
    "tta", "dts", "mp2", "opus", "oga",
)  # fmt: skip
"""The demuxers that may run: each reads one media file and names no other."""

_OPTIONS = {"protocol_whitelist": "file", "format_whitelist": ",".join(FORMATS)}
_SNIFF_BYTES = 4096
_LISTS = (
    (b"ffconcat", "a concat script"),
    (b"#EXTM3U", "a playlist (HLS or M3U)"),
    (b"[playlist]", "a playlist (PLS)"),
    (b"[reference]", "a reference list"),
    (b"v=0", "a session description (SDP)"),
    (b"<asx", "a playlist (ASX)"),
    (b"<smil", "a playlist (SMIL)"),
    (b"rtsptext", "a reference to a stream"),
)
_XML_LISTS = (
    (b"<MPD", "a DASH manifest"),
    (b"<SmoothStreamingMedia", "a streaming manifest"),
    (b"<playlist", "a playlist (XSPF)"),
    (b"<asx", "a playlist (ASX)"),
    (b"<smil", "a playlist (SMIL)"),
    (b"<manifest", "a streaming manifest"),
)
_CURE = "give the media files themselves"


def open_media(path: str | os.PathLike[str]) -> InputContainer:
    """The opened file. Raises MediaError, in one line, for everything that is not one
    readable media file."""
    file = Path(path)
    head = _read_head(file)
    # An absolute path cannot be taken for a protocol such as `concat:` or `subfile,,`.
    name = os.path.abspath(file)  # noqa: PTH100 -- Path.absolute keeps `..`, and both are text
    try:
        return av.open(
            name, container_options=_OPTIONS, metadata_errors="replace", buffer_size=1 << 17
        )
    except av.FFmpegError as error:
        raise MediaError(f"{shown_path(file)}: {_reason(error, head)}") from error
    except (OSError, ValueError) as error:
        raise MediaError(f"{shown_path(file)}: cannot be opened: {_one_line(error)}") from error


def pick_video(container: InputContainer) -> VideoStream:
    """The video stream with the default flag, else the first; attached pictures do not count.

    Raises MediaError where the file has none, or none that can be decoded.
    """
    streams = container.streams.video
    videos = [s for s in streams if not _is_picture(s)]
    name = shown_path(container.name)
    if not videos:
        if streams:
            what = (
                "no video stream, only cover art" if container.streams.audio else "only a picture"
            )
        elif container.streams.audio:
            what = "no video stream: audio only"
        else:
            what = "no video stream"
        raise MediaError(f"{name}: {what}; add a file that holds video")
    chosen = next((s for s in videos if s.disposition & av.stream.Disposition.default), videos[0])
    if chosen.codec_context is None:
        raise MediaError(f"{name}: its video codec is not known; convert it to H.264 or VP9 first")
    return chosen


def has_video(container: InputContainer) -> bool:
    """Whether there is a video stream that is no attached picture."""
    return any(not _is_picture(s) for s in container.streams.video)


def pick_sound(container: InputContainer) -> AudioStream | None:
    """The sound stream with the default flag, else the first that can be decoded, or None."""
    known = [s for s in container.streams.audio if s.codec_context is not None]
    default = av.stream.Disposition.default
    return next((s for s in known if s.disposition & default), next(iter(known), None))


def keep_only(container: InputContainer, *kept: av.stream.Stream) -> None:
    """Lets the demuxer skip every other stream, which saves reading and copying."""
    indexes = {stream.index for stream in kept}
    for stream in container.streams:
        if stream.index not in indexes:
            stream.discard = av.stream.Discard.all


def _is_picture(stream: VideoStream) -> bool:
    pictures = av.stream.Disposition.attached_pic | av.stream.Disposition.timed_thumbnails
    return bool(stream.disposition & pictures)


def _read_head(file: Path) -> bytes:
    try:
        if file.is_dir():
            raise MediaError(
                f"{shown_path(file)}: is a folder; give the files in it, or `reel add` it"
            )
        if not file.is_file():
            what = "is not a regular file" if file.exists() else "does not exist"
            raise MediaError(f"{shown_path(file)}: {what}; give a media file")
        with file.open("rb") as f:
            head = f.read(_SNIFF_BYTES)
    except (OSError, ValueError) as error:
        raise MediaError(f"{shown_path(file)}: cannot be read: {_one_line(error)}") from error
    if not head:
        raise MediaError(f"{shown_path(file)}: is empty (0 bytes); copy it again")
    kind = list_kind(head)
    if kind:
        raise MediaError(f"{shown_path(file)}: is {kind}, which names other files; {_CURE}")
    return head


def list_kind(head: bytes) -> str | None:
    """What kind of list of other files these first bytes begin, or None.

    >>> list_kind(b"ffconcat version 1.0")
    'a concat script'
    """
    text = head.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    lowered = text.lower()
    for mark, kind in _LISTS:
        if lowered.startswith(mark.lower()):
            return kind
    if lowered.startswith(b"<"):
        for mark, kind in _XML_LISTS:
            if mark.lower() in lowered:
                return kind
    return None


def _reason(error: av.FFmpegError, head: bytes) -> str:
    if isinstance(error, av.PermissionError):
        return "may not be read; check its permissions"
    if isinstance(error, av.ArgumentError):
        return "is not a video format that can be read; convert it to MP4, MKV or WebM"
    if isinstance(error, av.InvalidDataError):
        if head[4:8] in (b"ftyp", b"mdat", b"moov", b"free", b"wide"):
            return "has no index (moov): it was cut off; copy or download it again"
        return "is not a media file, or its header is damaged; copy or download it again"
    return f"cannot be opened: {_one_line(error)}"


def _one_line(error: BaseException) -> str:
    return " ".join((getattr(error, "strerror", None) or str(error)).split())


def shown_path(path: str | os.PathLike[str]) -> str:
    """The path for a one-line message: control characters are escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in os.fspath(path))
