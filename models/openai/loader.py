"""An `openai:` address to its adapter, and the check that it works."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reeldb.models.config import settings_for
from reeldb.models.openai.captioner import OpenAICaptioner
from reeldb.models.openai.chat import OpenAIChat
from reeldb.models.openai.embedder import OpenAITextEmbedder
from reeldb.models.openai.endpoint import endpoint_of
from reeldb.models.openai.speech import OpenAISpeech
from reeldb.schema.errors import ModelError
from reeldb.schema.models import CaptionRequest, Message, Model, Role, Status

if TYPE_CHECKING:
    from reeldb.schema.models import Image

Adapter = OpenAICaptioner | OpenAIChat | OpenAITextEmbedder | OpenAISpeech

ADAPTERS: dict[Role, type[Adapter]] = {
    "captioner": OpenAICaptioner,
    "chat": OpenAIChat,
    "vision": OpenAIChat,
    "text_embedder": OpenAITextEmbedder,
    "speech": OpenAISpeech,
}
RATE = 16_000  # Hz, of the sound that a check sends


def load(address: str, role: Role, config: Mapping[str, object]) -> Model:
    """The adapter at `openai:MODEL`. An empty config means the user's own (`models.config`),
    so that pictures never go to a server that the user has replaced.

    Sends nothing and wants no key yet. Raises ModelError for a role that such servers do not
    have and for a senseless setting.
    """
    return _adapter(address, role, config)


def check(address: str, role: Role, config: Mapping[str, object] | None = None) -> str:
    """One line on a model that works for the role, after one small real request.

    Raises ModelError, one line with the cure, where it does not.
    """
    adapter = _adapter(address, role, config or {}, hasty=True)
    began_s = time.monotonic()
    status, note, found = _tried(adapter, role)
    seconds = time.monotonic() - began_s
    if status == "failed" or (status == "refused" and role != "captioner"):
        raise ModelError(f"{address} does not work as the {role}: {note}")
    warning = f" ({note})" if note else ""
    return f"{address} answers at {adapter.endpoint.base_url} in {seconds:.1f} s: {found}{warning}"


def _adapter(
    address: str, role: Role, config: Mapping[str, object], *, hasty: bool = False
) -> Adapter:
    if role not in ADAPTERS:
        able = ", ".join(ADAPTERS)
        raise ModelError(f"{address!r} cannot be the {role}: such servers offer {able}")
    if not address.partition(":")[2]:
        raise ModelError(f"{address!r} names no model; write openai:MODEL, as the server calls it")
    endpoint = endpoint_of(address, config or settings_for(address))
    if hasty:
        endpoint = replace(
            endpoint, attempts=min(endpoint.attempts, 2), max_wait_s=min(endpoint.max_wait_s, 30.0)
        )
    return ADAPTERS[role](address, endpoint)


def _tried(adapter: Adapter, role: Role) -> tuple[Status, str, str]:
    """The status, the note and what was found, of one small request."""
    if isinstance(adapter, OpenAITextEmbedder):
        return "ok", "", f"vectors of {adapter.embed_texts(['a red car']).shape[1]} numbers"
    if isinstance(adapter, OpenAISpeech):
        tone = 0.1 * np.sin(np.arange(RATE) * (2 * np.pi * 440 / RATE)).astype(np.float32)
        heard = adapter.listen([tone], RATE)[0]
        return heard.status, heard.note, "it listens"
    if isinstance(adapter, OpenAICaptioner):
        reply = adapter.caption([CaptionRequest([_red()], [0.0], "Say in a word what you see.")])[0]
        return reply.status, reply.note, "it takes pictures"
    images, what = ([_red()], "it takes pictures") if role == "vision" else ([], "it replies")
    said = adapter.reply([[Message("user", "Reply with the word ok.", images)]])[0]
    return said.status, said.note, what


def _red() -> Image:
    """A small plain picture."""
    return np.full((64, 64, 3), (255, 0, 0), np.uint8)
