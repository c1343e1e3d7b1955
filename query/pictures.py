"""Pictures and sound out of video files, for the fills of one statement."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from reeldb.query.catalog import Video
from reeldb.schema.errors import MediaError

if TYPE_CHECKING:
    from reeldb.schema.models import Image, Sound

MOST_OPEN = 4


class OpenVideo(Protocol):
    """A file kept open for its pictures, as `media.pictures.Pictures` is."""

    def at(self, times_s: Sequence[float], *, max_side: int | None = None) -> list[Image]: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None: ...


Opener = Callable[[str], OpenVideo]
Listener = Callable[[str, float, float], "Sound"]


def open_video(path: str) -> OpenVideo:
    from reeldb.media.pictures import Pictures  # decoders are loaded only where a fill needs them

    return Pictures(path)


def read_sound(path: str, start_s: float, end_s: float) -> Sound:
    from reeldb.media.sound import sound

    return sound(path, start_s, end_s)


class PictureReader:
    """Keeps the last few files open. A file that cannot be read is told once, in `notes`."""

    def __init__(self, opener: Opener, notes: list[str], listener: Listener = read_sound) -> None:
        self._opener, self._notes, self._listener = opener, notes, listener
        self._open: OrderedDict[str, OpenVideo] = OrderedDict()
        self._gone: set[str] = set()
        self._deaf: set[str] = set()

    def at(self, video: Video, times_ms: Sequence[int], max_side: int) -> list[Image] | None:
        """The pictures at these times, or None where the file is gone or broken."""
        if video.path in self._gone:
            return None
        try:
            times_s = [ms / 1000 for ms in times_ms]
            return self._video(video.path).at(times_s, max_side=max_side)
        except MediaError as e:
            self._gone.add(video.path)
            self._notes.append(f"{video.name}: its pictures cannot be read ({e})")
            return None

    def sound(self, video: Video, start_s: float, end_s: float) -> Sound | None:
        """The sound of a stretch, 16,000 samples a second on the video's clock, or None where
        it cannot be read."""
        if video.path in self._deaf:
            return None
        try:
            return self._listener(video.path, start_s, end_s)
        except MediaError as e:
            self._deaf.add(video.path)
            self._notes.append(f"{video.name}: its sound cannot be read ({e})")
            return None

    def _video(self, path: str) -> OpenVideo:
        if path in self._open:
            self._open.move_to_end(path)
            return self._open[path]
        if len(self._open) >= MOST_OPEN:
            self._open.popitem(last=False)[1].__exit__(None, None, None)
        self._open[path] = self._opener(path)
        return self._open[path]

    def close(self) -> None:
        while self._open:
            with suppress(MediaError):
                self._open.popitem()[1].__exit__(None, None, None)
