"""The fakes that hear and that see what is done; see `models.fake` for their addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reeldb.models.colours import colour
from reeldb.models.fake import Fake
from reeldb.models.tones import loud, pitch
from reeldb.schema.models import Action, Heard, Listening, Recognition

if TYPE_CHECKING:
    from reeldb.schema.models import Image, Sound


class FakeSpeech(Fake):
    """Hears `text` (default: "a tone of {hz} Hz") in every loud stretch of a window."""

    def listen(self, sounds: Sequence[Sound], rate: int) -> list[Listening]:
        self.begin(sounds)
        return [self._one(s, rate) for s in sounds]

    def _one(self, sound: Sound, rate: int) -> Listening:
        _, reply = self.turn(len(sound) / rate)
        if reply is not None:
            said = Heard(0.0, len(sound) / rate, reply.text, 1.0)
            return Listening(reply.status, (said,) if reply.text else (), reply.note)
        text = self.word("text", "a tone of {hz} Hz")
        heard = tuple(
            Heard(a, b, text.replace("{hz}", str(pitch(sound, rate, a, b))), 0.9, "en")
            for a, b in loud(sound, rate)
        )
        return Listening("ok" if heard else "empty", heard)


class FakeActions(Fake):
    """Sees `text` done (default: "{colours}", such as "red to blue"), or only in stretches with
    a picture that is `on` a colour; stretches that are all black are empty."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.image_size = self.number("size", 224)
        self.picture_count = 16

    def recognise(self, stretches: Sequence[Sequence[Image]]) -> list[Recognition]:
        self.begin(stretches)
        return [self._one(s) for s in stretches]

    def _one(self, images: Sequence[Image]) -> Recognition:
        _, reply = self.turn(len(images))
        if reply is not None:
            told = (Action(reply.text, 1.0),) if reply.text else ()
            return Recognition(reply.status, told, reply.note)
        seen = list(dict.fromkeys(colour(i) for i in images))
        wanted = self.word("on", "")
        if seen == ["black"] or (wanted and wanted not in seen):
            return Recognition("empty")
        texts = self.params.get("text", ["{colours}"])
        done = tuple(Action(t.replace("{colours}", " to ".join(seen)), 0.9) for t in texts)
        return Recognition("ok", done)
