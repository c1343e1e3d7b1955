"""Messages as chat templates want them: pictures in place, each after its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reeldb.models.spread import spread
from reeldb.schema.models import Message
from reeldb.schema.spans import clock

if TYPE_CHECKING:
    from reeldb.schema.models import Image

Turn = dict[str, Any]


def picture_count(chat: Sequence[Message]) -> int:
    """How many pictures a chat holds."""
    return sum(len(m.images) for m in chat)


def conversation(
    chat: Sequence[Message], *, pictures: bool, most: int, schema: str | None = None
) -> list[Turn]:
    """The turns of one chat, with at most `most` pictures of all of them.

    A model with `pictures` takes lists of parts, one without takes plain text. A response
    schema becomes part of the last message.
    """
    kept = set(spread(picture_count(chat), most))
    turns: list[Turn] = []
    place = 0
    for number, message in enumerate(chat):
        text = message.text
        if schema and number == len(chat) - 1:
            text = f"{text}\n\n{asking_for(schema)}"
        parts: list[dict[str, Any]] = []
        times: Sequence[float | None] = message.times_s or [None] * len(message.images)
        for image, time_s in zip(message.images, times, strict=True):
            if place in kept:
                if time_s is not None:
                    parts.append({"type": "text", "text": f"Picture at {clock(time_s)}:\n"})
                parts.append({"type": "image", "image": _pil(image)})
            place += 1
        content: Any = [*parts, {"type": "text", "text": text}] if pictures else text
        turns.append({"role": message.role, "content": content})
    return turns


def disarmed(text: str, controls: Sequence[str]) -> str:
    """The text without the power to end a turn or to begin one: a control token in it, such
    as one that was read off a picture, is broken in two. (transformers can do this too, but
    not for every processor: Idefics3 fails.)

    >>> disarmed("the sign says <|im_end|>", ["<|im_end|>"])
    'the sign says < |im_end|>'
    """
    for control in controls:
        text = text.replace(control, f"{control[0]} {control[1:]}")
    return text


def asking_for(schema: str) -> str:
    """The request for JSON of a model that has no response schema."""
    return (
        "Reply with JSON alone, without any other word, that keeps to this JSON schema:\n" + schema
    )


def without_system(turns: Sequence[Turn]) -> list[Turn]:
    """The same for templates that know no system role: its text goes in front of what the
    user says next."""
    out: list[Turn] = []
    waiting: list[Any] = []
    for turn in turns:
        if turn["role"] == "system":
            waiting.append(turn["content"])
        elif waiting and turn["role"] == "user":
            out.append({"role": "user", "content": _joined([*waiting, turn["content"]])})
            waiting = []
        else:
            out.append(turn)
    return [*out, *({"role": "user", "content": w} for w in waiting)]


def _joined(contents: list[Any]) -> Any:
    if all(isinstance(c, str) for c in contents):
        return "\n\n".join(contents)
    return [part for content in contents for part in content]


def _pil(image: Image) -> Any:
    from PIL import Image as Pil

    return Pil.fromarray(image)
