"""Conversations, with pictures or without, to typed replies, in left-padded batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from reeldb.models.said import judged
from reeldb.models.torch.settings import Settings
from reeldb.models.torch.weights import Source
from reeldb.models.transformers.conversation import (
    Turn,
    conversation,
    disarmed,
    picture_count,
    without_system,
)
from reeldb.models.transformers.network import Network
from reeldb.schema.errors import ModelError
from reeldb.schema.models import Message, Reply

Chat = Sequence[Message]


@dataclass(frozen=True, slots=True)
class Wanted:
    """One request on its way into a batch; `at` is its place in the wave."""

    at: int
    turns: list[Turn]
    pictures: int
    length: int  # characters, to put like with like


@dataclass(frozen=True)
class Talker:
    """One network's side of a conversation; greedy, so the same request has the same reply."""

    source: Source
    settings: Settings
    network: Network

    def reply(self, chats: Sequence[Chat], schema: str | None = None) -> list[Reply]:
        """One reply a chat, in order. Raises ModelError where the model takes no pictures, or
        its template does not take the turns."""
        if self.network.kind == "describer":
            raise ModelError(
                f"{self.source.address!r} describes pictures and reads no prompt; name a "
                "vision-language model"
            )
        wanted = sorted(
            (self._wanted(i, chat, schema) for i, chat in enumerate(chats)),
            key=lambda w: (w.pictures, w.length),  # like with like: little padding
        )
        with self.network.lock:
            replies = self.network.batches.run(wanted, self._batch, self._lost)
        by_place = {w.at: r for w, r in zip(wanted, replies, strict=True)}
        return [self._noted(by_place[i], picture_count(chat)) for i, chat in enumerate(chats)]

    def _wanted(self, at: int, chat: Chat, schema: str | None) -> Wanted:
        count = picture_count(chat)
        pictures = self.network.kind == "vision"
        if count and not pictures:
            raise ModelError(
                f"{self.source.address!r} takes no pictures; name a vision-language model"
            )
        turns = conversation(
            [replace(m, text=disarmed(m.text, self.network.controls)) for m in chat],
            pictures=pictures,
            most=self.settings.max_images,
            schema=schema,
        )
        length = sum(len(m.text) for m in chat)
        return Wanted(at, turns, min(count, self.settings.max_images), length)

    def _noted(self, reply: Reply, pictures: int) -> Reply:
        most = self.settings.max_images
        if pictures <= most:
            return reply
        note = f"{most} of {pictures} pictures shown: max_images is {most}"
        note = f"{reply.note}; {note}" if reply.note else note
        return Reply(reply.status, reply.text, note, reply.tokens, reply.tokens_out)

    def _lost(self, wanted: Wanted) -> Reply:
        what = f"{wanted.pictures} pictures of up to {self.settings.image_size} pixels"
        return Reply(
            "failed",
            note=f"out of memory on {self.network.hardware.device} with this one request alone "
            f"({what}): lower image_size or max_images",
        )

    def _batch(self, batch: Sequence[Wanted]) -> list[Reply]:
        """Replies to a batch. One that the context has no room for is `failed`, and the others
        are asked without it."""
        inputs = self.inputs([w.turns for w in batch])
        lengths = [int(n) for n in inputs["attention_mask"].sum(dim=1)]
        room = None if self.network.context is None else (
            self.network.context - self.settings.max_tokens
        )  # fmt: skip
        fitting = [w for w, n in zip(batch, lengths, strict=True) if room is None or n <= room]
        if len(fitting) < len(batch):
            inputs = self.inputs([w.turns for w in fitting]) if fitting else None
        said = iter(self._generated(inputs) if fitting else [])
        return [next(said) if room is None or n <= room else self._too_long(n) for n in lengths]

    def _too_long(self, length: int) -> Reply:
        return Reply(
            "failed",
            note=f"{length} tokens and {self.settings.max_tokens} for the reply are more than "
            f"the {self.network.context} that the model reads: lower image_size, max_images or "
            "max_tokens",
            tokens=0,
            calls=0,
        )

    def inputs(self, chats: Sequence[list[Turn]]) -> Any:
        """The batch as tensors, padded on the left."""
        from jinja2.exceptions import TemplateError

        processor = self.network.processor
        template = processor.chat_template
        template = str(template.values() if isinstance(template, dict) else template)
        tokenize: dict[str, Any] = {
            "add_generation_prompt": True,
            "tokenize": True,
            "return_dict": True,
            "return_tensors": "pt",
        }
        if self.network.kind == "vision":
            tokenize["processor_kwargs"] = {"padding": True}
        else:
            tokenize["padding"] = True
        if "enable_thinking" in template:
            tokenize["enable_thinking"] = False  # a caption is no riddle
        apply = partial(processor.apply_chat_template, **tokenize)
        try:
            return apply(list(chats))
        except TemplateError as e:
            try:
                return apply([without_system(turns) for turns in chats])
            except TemplateError:
                why = f"its chat template does not take these turns: {e}"
                raise ModelError(f"{self.source.address!r}: {why}") from e

    def _generated(self, inputs: Any) -> list[Reply]:
        import torch

        network, most = self.network, self.settings.max_tokens
        prompt = int(inputs["input_ids"].shape[1])
        read = [int(n) for n in inputs["attention_mask"].sum(dim=1)]
        with torch.inference_mode():
            out = network.model.generate(
                **network.moved(inputs), max_new_tokens=most, **greedy(network)
            )
        if not network.model.config.is_encoder_decoder:
            out = out[:, prompt:]
        said = network.tokenizer.batch_decode(out, skip_special_tokens=True)
        ends = end_tokens(network)
        replies = []
        for text, row, n in zip(said, out.tolist(), read, strict=True):
            written = next((i for i, token in enumerate(row) if token in ends), len(row))
            cut = written >= most
            status, kept, note = judged(clean(text), cut=cut)
            replies.append(Reply(status, kept, note, n + written, written))
        return replies


def greedy(network: Network) -> dict[str, Any]:
    """No sampling, whatever the model's own settings are; these would only be warned about."""
    return {
        "do_sample": False,
        "temperature": None,
        "top_p": None,
        "top_k": None,
    }


def end_tokens(network: Network) -> set[int]:
    """The tokens that end a reply."""
    ends = network.model.generation_config.eos_token_id
    listed = ends if isinstance(ends, list) else [ends]
    return {t for t in listed if t is not None}


def clean(text: str) -> str:
    """The text as a table can hold it."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
