"""Deterministic models for tests, ours and yours, reached by address as any other.

```text
fake:captioner?reply=a+cat     always "a cat"; several reply= take turns; {colour} {times} {n}
fake:embedder?dim=16           pictures near the words for their colour: "red", "blue" ...
fake:text_embedder             texts near when they share words
fake:ocr?on=red&text=HELLO     reads HELLO on red pictures, nothing on others
fake:objects?text=cat
fake:speech?text=hello         says so in every loud stretch of sound; {hz}
fake:actions?text=running      sees it done in every scene that is not black; {colours}
fake:chat?has=rabbit           "yes" where the last message holds the word, else "no"
fake:vision                    "yes" where the last message names the colour of a picture
```

Everywhere: `fail=3` fails every third request, `refuse=` and `empty=` alike, `crash=2` raises
ModelError at every second call, `seconds=` sleeps a request, `batch=`, `revision=` (another
identity). Only what changes the content of replies is in the identity. Counters: `.calls`
(batches), `.requests`, `.history`; `.enqueue(...)` scripts the next replies. With the
environment variable REEL_FAKE_LOG set, each request appends one line to that file, so calls
can be counted across processes.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

import numpy as np

from reeldb.models.colours import PALETTE, closeness, colour
from reeldb.schema.digests import digest
from reeldb.schema.errors import ModelError, near
from reeldb.schema.models import (
    CaptionRequest,
    Found,
    Look,
    Message,
    Model,
    Reply,
    Role,
)

if TYPE_CHECKING:
    from reeldb.schema.models import Image, Vectors

LOG = "REEL_FAKE_LOG"
_CONTENT = ("reply", "text", "on", "has", "yes", "no", "dim", "nan", "revision")
_MANNER = ("fail", "refuse", "empty", "crash", "seconds", "batch", "size")


class Fake:
    """What all fakes share: parameters, counters, scripted replies, failures."""

    can = "what its address says: a deterministic stand-in for tests"
    cannot = "anything else; name a real model for real work"

    def __init__(self, address: str) -> None:
        self.address = address
        kind, _, query = address.partition(":")[2].partition("?")
        self.kind = kind
        self.params: dict[str, list[str]] = {}
        for key, value in parse_qsl(query, keep_blank_values=True):
            if key not in _CONTENT + _MANNER:
                raise ModelError(
                    f"{address!r}: no parameter {key}; {near(key, _CONTENT + _MANNER)}"
                )
            self.params.setdefault(key, []).append(value)
        content = [(k, v) for k in _CONTENT for v in self.params.get(k, [])]
        self.identity = f"fake:{kind}" + (f"?{urlencode(content)}" if content else "")
        self.batch_size = self.number("batch", 8)
        for key in _MANNER:
            self.amount(key, 0)
        self.calls = 0
        self.requests = 0
        self.history: list[object] = []
        self._script: deque[Reply] = deque()
        self._lock = Lock()

    def number(self, key: str, default: int) -> int:
        return int(self.amount(key, default))

    def amount(self, key: str, default: float) -> float:
        text = self.word(key, str(default))
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value < 1e9:
            raise ModelError(f"{self.address!r}: {key}={text} is not a number of 0 or more")
        return value

    def word(self, key: str, default: str) -> str:
        return self.params.get(key, [default])[-1]

    def enqueue(self, *replies: Reply | str) -> None:
        """The next requests get these replies instead, in order; a str is an `ok` reply."""
        with self._lock:
            self._script.extend(Reply("ok", r) if isinstance(r, str) else r for r in replies)

    def begin(self, requests: Sequence[object]) -> None:
        """Counts one batch. Raises ModelError where `crash` says so."""
        with self._lock:
            self.calls += 1
            call = self.calls
        self._log(len(requests))
        time.sleep(self.amount("seconds", 0) * len(requests))
        crash = self.number("crash", 0)
        if crash and call % crash == 0:
            raise ModelError(f"{self.address}: call {call} crashed, as told")

    def _log(self, requests: int) -> None:
        if path := os.environ.get(LOG):
            with Path(path).open("ab") as log:
                log.write(f"{self.identity}\n".encode() * requests)

    def turn(self, request: object) -> tuple[int, Reply | None]:
        """The number of this request, from 1, and its scripted or failed reply, if any."""
        with self._lock:
            self.requests += 1
            number = self.requests
            self.history.append(request)
            if self._script:
                return number, self._script.popleft()
        for key, reply in (
            ("fail", Reply("failed", note="failed, as told")),
            ("refuse", Reply("refused", note="refused, as told")),
            ("empty", Reply("empty", note="empty, as told")),
        ):
            every = self.number(key, 0)
            if every and number % every == 0:
                return number, reply
        return number, None

    def text(self, number: int, default: str, **fields: object) -> str:
        replies = self.params.get("reply", [default])
        text = replies[(number - 1) % len(replies)]
        for name, value in {**fields, "n": number}.items():
            text = text.replace("{" + name + "}", str(value))
        return text


class FakeCaptioner(Fake):
    """By default names the colours: "A red picture, then a blue one, at 1.0 s, 2.0 s." """

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.image_size = self.number("size", 512)

    def caption(self, requests: Sequence[CaptionRequest]) -> list[Reply]:
        self.begin(requests)
        return [self._one(r) for r in requests]

    def _one(self, request: CaptionRequest) -> Reply:
        number, reply = self.turn(request)
        if reply is not None:
            return reply
        colours = " then ".join(dict.fromkeys(colour(i) for i in request.images))
        times = ", ".join(f"{t:.1f} s" for t in request.times_s)
        text = self.text(
            number, "A {colour} picture at {times}.", colour=colours, times=times,
            prompt=request.prompt,
        )  # fmt: skip
        return Reply("ok" if text else "empty", text, tokens=len(text.split()))


class FakeTextEmbedder(Fake):
    """Each word is a fixed random direction, each colour word an axis of its own."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.dim = self.number("dim", 32)
        if self.dim < len(PALETTE) + 2:
            raise ModelError(f"{address!r}: dim must be at least {len(PALETTE) + 2}")
        self.space = f"{self.identity}@{self.dim}"

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        self.begin(texts)
        return unit(np.stack([self._text(t) for t in texts])) if texts else self._none()

    def _text(self, text: str) -> Vectors:
        self.turn(text)
        vector = np.zeros(self.dim, np.float32)
        for word in text.lower().split():
            word = word.strip(".,;:!?\"'()")
            if word in PALETTE:
                vector[list(PALETTE).index(word)] += 3.0
            else:
                rest = np.random.default_rng(int(digest(word)[:12], 16))
                vector[len(PALETTE) :] += unit(
                    rest.standard_normal(self.dim - len(PALETTE), np.float32)
                )
        if not vector.any():
            vector[-1] = 1.0
        return vector

    def _none(self) -> Vectors:
        return np.empty((0, self.dim), np.float32)


class FakeEmbedder(FakeTextEmbedder):
    """Pictures by mean colour, in the space of `FakeTextEmbedder`; `nan=black` fails black."""

    image_size = (32, 32)

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        self.begin(images)
        return unit(np.stack([self._image(i) for i in images])) if images else self._none()

    def _image(self, image: Image) -> Vectors:
        self.turn(image.shape)
        vector = np.zeros(self.dim, np.float32)
        if self.word("nan", "") == colour(image):
            return vector * np.nan
        vector[: len(PALETTE)] = closeness(image)
        return vector


class FakePictureTool(Fake):
    """Finds `text` (default: the colour's name) filling every picture, or only those `on` a
    colour; black pictures are empty by default."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.image_size = self.number("size", 512)

    def look(self, images: Sequence[Image]) -> list[Look]:
        self.begin(images)
        return [self._one(i) for i in images]

    def _one(self, image: Image) -> Look:
        _, reply = self.turn(image.shape)
        if reply is not None:
            box = (Found(reply.text, 1.0, (0.0, 0.0, 1.0, 1.0)),) if reply.text else ()
            return Look(reply.status, box, reply.note)
        seen = colour(image)
        if not (seen == self.word("on", "") if "on" in self.params else seen != "black"):
            return Look("empty")
        texts = self.params.get("text", ["{colour}"])
        high = 1.0 / len(texts)
        return Look(
            "ok",
            tuple(
                Found(t.replace("{colour}", seen), 0.9, (0.0, i * high, 1.0, (i + 1) * high))
                for i, t in enumerate(texts)
            ),
        )


class FakeChat(Fake):
    """`reply=` in turn, else `yes=` or `no=` by `has=`, or by the colour of the pictures."""

    max_images = 64

    def reply(
        self, messages: Sequence[Sequence[Message]], schema: str | None = None
    ) -> list[Reply]:
        self.begin(messages)
        return [self._one(m) for m in messages]

    def _one(self, chat: Sequence[Message]) -> Reply:
        number, reply = self.turn(tuple(chat))
        if reply is not None:
            return reply
        said = chat[-1].text.lower() if chat else ""
        seen = [colour(i) for m in chat for i in m.images]
        wanted = self.params.get("has") or seen
        yes = any(w.lower() in said for w in wanted)
        default = self.word("yes", "yes") if yes else self.word("no", "no")
        text = self.text(number, default, colour=" ".join(seen))
        return Reply("ok" if text else "empty", text, tokens=len(text.split()))


def kinds() -> dict[str, type[Fake]]:
    """The class of each kind of fake."""
    from reeldb.models.fake_tools import FakeActions, FakeSpeech

    return KINDS | {"speech": FakeSpeech, "actions": FakeActions}


KINDS: dict[str, type[Fake]] = {
    "captioner": FakeCaptioner,
    "embedder": FakeEmbedder,
    "text_embedder": FakeTextEmbedder,
    "ocr": FakePictureTool,
    "objects": FakePictureTool,
    "chat": FakeChat,
    "vision": FakeChat,
}


def load(address: str, role: Role, config: Mapping[str, object]) -> Model:
    """The fake that the address names. Raises ModelError for an unknown kind or parameter."""
    kind = address.partition(":")[2].partition("?")[0]
    known = kinds()
    if kind not in known:
        raise ModelError(f"{address!r}: no such fake; {near(kind, known)}")
    return known[kind](address)


def unit(rows: Vectors) -> Vectors:
    """The rows at length 1; rows of NaN stay so."""
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), np.float32)
