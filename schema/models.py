"""The model protocols: what an adapter must be, for each role.

An adapter implements one method on a batch. Batching, retries, timing, budget and caching
are written once, outside it. Pictures are RGB, upright, `uint8`, shape `(height, width, 3)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image: TypeAlias = NDArray[np.uint8]
    Vectors: TypeAlias = NDArray[np.float32]
    Sound: TypeAlias = NDArray[np.float32]

Status = Literal["ok", "empty", "refused", "failed"]
Role = Literal[
    "embedder",
    "text_embedder",
    "captioner",
    "ocr",
    "speech",
    "objects",
    "actions",
    "chat",
    "vision",
]
ROLES: tuple[Role, ...] = get_args(Role)


@runtime_checkable
class Model(Protocol):
    """What every adapter has, checked before an expensive call."""

    address: str  # how the user named it: `builtin:labels`, `open_clip:ViT-B-32/...`
    identity: str  # what goes into ledger keys: name and weights digest, never a base URL
    can: str  # one line: what it can do
    cannot: str  # one line: what it cannot, and what to name instead


@runtime_checkable
class TextEmbedder(Model, Protocol):
    """Text to unit vectors of shape `(n, dim)`."""

    dim: int

    def embed_texts(self, texts: Sequence[str]) -> Vectors: ...


@runtime_checkable
class Embedder(TextEmbedder, Protocol):
    """Pictures and texts to unit vectors of one space; a row of NaN is a picture that failed."""

    space: str
    image_size: tuple[int, int]  # (width, height); callers resize with AREA to `wanted_size`
    batch_size: int

    def embed_images(self, images: Sequence[Image]) -> Vectors: ...


@runtime_checkable
class Framing(Protocol):
    """An embedder that looks at a part of a picture, or fills it up: it wants a picture of
    `width` x `height` in a size that depends on its shape, and cuts it itself."""

    def frame_size(self, width: int, height: int) -> tuple[int, int]: ...


def wanted_size(embedder: Embedder, width: int, height: int) -> tuple[int, int]:
    """The (width, height) to hand a picture of that size to an embedder in."""
    if isinstance(embedder, Framing):
        return embedder.frame_size(width, height)
    return embedder.image_size


@dataclass(frozen=True, slots=True)
class CaptionRequest:
    """Pictures in time order, their nominal times, and every word of the prompt."""

    images: Sequence[Image]
    times_s: Sequence[float]
    prompt: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said. `text` counts only where status is `ok`.

    `note` says why it is not, or, where it is, what to doubt. `tokens` are all that were
    counted, read and written, `tokens_out` those written; `calls` the requests it took,
    repeated ones included, 0 where none was sent.
    """

    status: Status
    text: str = ""
    note: str = ""
    tokens: int = 0
    tokens_out: int = 0
    calls: int = 1


@runtime_checkable
class Captioner(Model, Protocol):
    """Picture groups to prose, one reply a request, in order."""

    batch_size: int
    image_size: int  # longest side, in pixels, that pictures are decoded to

    def caption(self, requests: Sequence[CaptionRequest]) -> list[Reply]: ...


@dataclass(frozen=True, slots=True)
class Found:
    """One thing a tool saw in a picture; box in 0..1 of the picture as shown."""

    text: str
    confidence: float
    box: tuple[float, float, float, float]  # x0, y0, x1, y1


@dataclass(frozen=True, slots=True)
class Look:
    """What one look of a tool gave: `empty` means looked and found nothing."""

    status: Status
    found: tuple[Found, ...] = ()
    note: str = ""


@runtime_checkable
class PictureTool(Model, Protocol):
    """OCR and object detection: one look a picture, in order."""

    batch_size: int
    image_size: int  # longest side, in pixels, that pictures are decoded to

    def look(self, images: Sequence[Image]) -> list[Look]: ...


@dataclass(frozen=True, slots=True)
class Word:
    """One spoken word, in seconds from the start of the sound that was given."""

    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True, slots=True)
class Heard:
    """One stretch of speech, in seconds from the start of the sound that was given.

    `words` are those of `text` in order, where the model tells when each was said.
    """

    start_s: float
    end_s: float
    text: str
    confidence: float
    language: str = ""
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Listening:
    """What one window of sound gave: `empty` means listened and heard no speech."""

    status: Status
    heard: tuple[Heard, ...] = ()
    note: str = ""
    calls: int = 1


@runtime_checkable
class SpeechTool(Model, Protocol):
    """Speech to text: one listening a window, in order. Sounds are mono, -1..1, at `rate` Hz."""

    batch_size: int

    def listen(self, sounds: Sequence[Sound], rate: int) -> list[Listening]: ...


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that is done in a stretch of video."""

    label: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Recognition:
    """What one look at a stretch gave: `empty` means looked and sure of nothing."""

    status: Status
    actions: tuple[Action, ...] = ()
    note: str = ""


@runtime_checkable
class ActionTool(Model, Protocol):
    """Action recognition: one look a stretch of video, given as pictures in time order."""

    batch_size: int
    image_size: int  # longest side, in pixels, that pictures are decoded to
    picture_count: int  # how many pictures of a stretch it wants, evenly spaced

    def recognise(self, stretches: Sequence[Sequence[Image]]) -> list[Recognition]: ...


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat; every picture is preceded by its time."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: Sequence[Image] = field(default=())
    times_s: Sequence[float] = field(default=())


@runtime_checkable
class ChatModel(Model, Protocol):
    """A language or vision-language model; `schema` is a JSON schema of the reply, or None."""

    max_images: int

    def reply(
        self, messages: Sequence[Sequence[Message]], schema: str | None = None
    ) -> list[Reply]: ...


UNPAID = "the budget allows no further call for it"


@runtime_checkable
class Streaming(Protocol):
    """A captioner that begins the next requests while others are worked on.

    `stream` gives each reply with the place of its request, as it comes. Requests are taken
    one at a time, from threads of its own, when they can be sent, or up to `ahead` of them
    before that; none is begun after the iterator is closed. Raises ModelError, after the
    replies that were paid for, where no request can work.
    """

    @property
    def ahead(self) -> int: ...

    def stream(self, requests: Iterable[CaptionRequest]) -> Iterator[tuple[int, Reply]]: ...


@runtime_checkable
class Metered(Protocol):
    """A model that may need more than one call for a reply: repeats, smaller requests.

    The caller pays the first call of each request itself. `metered(debit)` is the same model
    (one connection, one memory) that asks `debit` before each further call; where it says
    False the request ends as `failed` with the note `UNPAID`. `debit` is called from several
    threads.
    """

    def metered(self, debit: Callable[[], bool]) -> Model: ...


@runtime_checkable
class Tempered(Protocol):
    """A chat model that can be asked for more varied replies than its steadiest.

    `tempered(t)` is the same model at sampling temperature t; the caller writes t into the
    addresses of its replies. Any other model replies at its own temperature.
    """

    def tempered(self, temperature: float) -> Model: ...
