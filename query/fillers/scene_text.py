"""`scenes.ocr_text` and `scenes.speech_text`: what looks at the parts of a scene found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from reeldb.query.fillers.base import Batch, Keys, Work
from reeldb.query.fillers.looks import Looks, Place, Row, code
from reeldb.query.fillers.speech_looks import SpeechLooks


class SceneText(ABC):
    """A text of a scene, known once every place of the scene has been looked at."""

    size = 8

    def __init__(self, work: Work, looks: Looks) -> None:
        self.work, self.looks = work, looks

    @abstractmethod
    def _places(self, row: int) -> list[Place]: ...

    @abstractmethod
    def _text(self, row: int, found: Sequence[Sequence[Row]]) -> str: ...

    def unseen(self, keys: Sequence[int]) -> list[int]:
        """The codes of the places of these scenes that nobody has looked at."""
        places = dict.fromkeys(p for k in keys for p in self._places(k))
        return [code(*p) for p in places if self.looks.found(p) is None]

    def recall(self, keys: Keys) -> Batch:
        out = Batch()
        for key in map(int, keys):
            places = self._places(key)
            found = [f for p in places if (f := self.looks.found(p)) is not None]
            if len(found) == len(places):
                text = self._text(key, found)
                out.add(key, text, "ok" if text else "empty")
            elif any(p in self.looks.unread for p in places):
                out.add(key, None, "unread")
        return out

    def make(self, keys: Sequence[int]) -> Batch:
        if self.looks.role not in self.work.lazy:
            return Batch()
        for key in keys:
            if not self.looks.look(self._places(key)):
                break
        return self.recall(keys)


class OcrText(SceneText):
    """The distinct texts of a scene's grid pictures in time order, one a line."""

    def _places(self, row: int) -> list[Place]:
        catalog = self.work.catalog
        rank = int(catalog.snapshot.ranks("scenes")[row])
        return [(rank, ms) for ms in catalog.scene_times_ms(row, None)]

    def _text(self, row: int, found: Sequence[Sequence[Row]]) -> str:
        return "\n".join(dict.fromkeys(str(r["text"]) for f in found for r in f))


class SpeechText(SceneText):
    """The subtitles and the speech that overlap a scene, in time order.

    '' where there is neither, and without a call where the video has no sound. Where nothing may
    be computed, subtitles are there without what nobody has listened to.
    """

    looks: SpeechLooks

    def recall(self, keys: Keys) -> Batch:
        out = super().recall(keys)
        if self.looks.role not in self.work.lazy:
            known = set(out.keys)
            for key in map(int, keys):
                text = "" if key in known else self._text(key, ())
                if text:
                    out.add(key, text, "ok")
        return out

    def _places(self, row: int) -> list[Place]:
        rank = int(self.work.catalog.snapshot.ranks("scenes")[row])
        return self.looks.places_in(rank, *self.work.catalog.span("scenes", row))

    def _text(self, row: int, found: Sequence[Sequence[Row]]) -> str:
        rank = int(self.work.catalog.snapshot.ranks("scenes")[row])
        start_s, end_s = self.work.catalog.span("scenes", row)
        heard = [*self.looks.subtitles(rank), *self._heard(rank, found)]
        said = [r for r in heard if r["start_s"] < end_s and start_s < r["end_s"]]
        said.sort(key=lambda r: (r["start_s"], r["line_no"]))
        return " ".join(str(r["text"]) for r in said)

    def _heard(self, rank: int, found: Sequence[Sequence[Row]]) -> Iterable[Row]:
        for rows in found:
            for row in rows:
                shown = self.looks.on_clock(rank, row)
                if shown is not None:
                    yield shown
