"""The truthful witness of a made benchmark as a model of this process: `seer:FOLDER`.

It says what the test server says over HTTP, without encoding a picture, so that many thousand
questions can be asked. `PICTURES` counts what it was shown, by address.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reeldb.evaluation.timecode import read_stamp
from reeldb.schema.models import CaptionRequest, Message, Reply
from tests.made_witness import MadeWitness
from tests.witness import Seen

if TYPE_CHECKING:
    from reeldb.schema.models import Image

PICTURES: Counter[str] = Counter()


def load(address: str, role: str, config: object) -> Seer:
    return Seer(address)


class Seer:
    can, cannot = "the truth of made videos", "anything else"
    batch_size = 16
    image_size = 320
    max_images = 1024

    def __init__(self, address: str) -> None:
        self.address = self.identity = address
        self._witness = MadeWitness(Path(address.partition(":")[2]))

    def caption(self, requests: Sequence[CaptionRequest]) -> list[Reply]:
        return [self._said(r.prompt, r.images, None) for r in requests]

    def reply(
        self, messages: Sequence[Sequence[Message]], schema: str | None = None
    ) -> list[Reply]:
        return [
            self._said("\n".join(m.text for m in chat), [i for m in chat for i in m.images], schema)
            for chat in messages
        ]

    def _said(self, prompt: str, images: Sequence[Image], schema: str | None) -> Reply:
        form = {"json_schema": {"schema": json.loads(schema)}} if schema else None
        PICTURES[self.address] += len(images)
        seen = Seen("", {"response_format": form} if form else {}, prompt=prompt,
                    moments=tuple(read_stamp(i) for i in images))  # fmt: skip
        text = self._witness(seen)
        return Reply("ok", text, tokens=len(prompt.split()) + 85 * len(images) + len(text.split()))
