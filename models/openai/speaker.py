"""Conversations, with pictures or without, to typed replies: what chat and captions share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any

from reeldb.models.openai.caller import Caller, Job
from reeldb.models.openai.endpoint import Endpoint
from reeldb.models.openai.fault import Fault
from reeldb.models.openai.replies import reply_of
from reeldb.models.openai.server import Server
from reeldb.models.openai.threads import as_they_come, in_threads
from reeldb.schema.errors import ModelError
from reeldb.schema.models import Message, Reply, Status

SMALLEST_SIDE = 224  # pixels; below it a picture is not worth asking about
TEMPERATURE, SEED = 0, 0  # as `schema.digests.caption_key` has them

Chat = Sequence[Message]


class Speaker:
    """One reply a conversation, many at once.

    A request that fails is a `failed` reply with a note. Raises ModelError, with the cure,
    where none can work: no key, a wrong address or model name; not, though, while the same
    batch holds replies that were paid for: then the next one raises.
    """

    def __init__(
        self, address: str, endpoint: Endpoint, server: Server | None = None, *,
        caller: Caller | None = None,
    ) -> None:  # fmt: skip
        self.address = address
        self.endpoint = endpoint
        self.caller = caller or Caller(address.partition(":")[2], endpoint, server)
        self.identity = identity(address, endpoint)
        self.batch_size = endpoint.concurrency
        self.max_images = endpoint.max_images
        self.temperature: float = TEMPERATURE

    def converse(self, chats: Sequence[Chat], schema: str | None = None) -> list[Reply]:
        """One reply a chat, in order."""
        form = response_format(schema) if schema else None
        stop = Event()
        wrong: list[Fault] = []
        work = partial(self._one, form=form, stop=stop, wrong=wrong)
        replies = in_threads(work, list(chats), self.endpoint.concurrency, stop)
        if wrong and all(r.status == "failed" for r in replies):
            raise self.caller.error(wrong[0])
        return replies

    def each(self, chats: Iterable[Chat]) -> Iterator[tuple[int, Reply]]:
        """The replies as they come, each with the place of its chat; `concurrency` at once.

        Raises ModelError, after the replies that were paid for, where none can work.
        """
        stop = Event()
        wrong: list[Fault] = []
        work = partial(self._one, form=None, stop=stop, wrong=wrong)
        for place, reply in as_they_come(work, chats, self.endpoint.concurrency, stop):
            if wrong:
                stop.set()
                if reply.status == "failed":  # for the same reason, or not sent
                    continue
            yield place, reply
        if wrong:
            raise self.caller.error(wrong[0])

    def _one(
        self, chat: Chat, form: Mapping[str, Any] | None, stop: Event, wrong: list[Fault]
    ) -> Reply:
        job = Job(stop)
        if wrong:
            return Reply("failed", note=f"not sent: {wrong[0].note}", calls=0)
        try:
            reply = self._asked(chat, form, job)
        except Fault as fault:
            if fault.kind == "misused":
                wrong.append(fault)
            status: Status = "refused" if fault.kind == "refused" else "failed"
            return Reply(status, note=fault.note, calls=job.calls)
        return replace(reply, calls=job.calls)

    def _asked(self, chat: Chat, form: Mapping[str, Any] | None, job: Job) -> Reply:
        """The reply to as many pictures, as large, as the server takes: half as many after
        each refusal for size, and, once there is one, half as large."""
        from reeldb.models.openai import pictures

        total = pictures.count(chat)
        most, side = min(total, self.endpoint.max_images), self.endpoint.image_size
        words = sum(len(m.text) for m in chat)
        said = "" if most == total else f"max_images is {most}"
        while True:
            size = (most, side, words)
            try:
                if self._known_too_large(size):
                    raise Fault("large", "the server has refused as much before")
                body = self._body(pictures.payload(chat, most, side), form)
                found = self.caller.ask(_completions, body, job)
            except Fault as fault:
                if fault.kind != "large":
                    raise
                if not self._known_too_large(size):
                    self.caller.server.note_too_large(self.caller.model, size)
                most, side = _smaller(most, side, fault)
                said = said or fault.note
                continue
            return _with_note(reply_of(found), most, total, side, self.endpoint.image_size, said)

    def _known_too_large(self, size: tuple[int, int, int]) -> bool:
        """Whether it need not be tried. The smallest try is always made: servers change."""
        most, side, _ = size
        can_shrink = most > 1 or (most == 1 and side // 2 >= SMALLEST_SIDE)
        return can_shrink and self.caller.server.is_too_large(self.caller.model, size)

    def _body(
        self, messages: list[dict[str, Any]], form: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.caller.model,
            "messages": messages,
            "temperature": self.temperature,
            "seed": SEED,
        }
        if form:
            body["response_format"] = form
        if self.endpoint.max_tokens:
            body["max_tokens"] = self.endpoint.max_tokens
        return body


def identity(address: str, endpoint: Endpoint) -> str:
    """What goes into ledger keys: the model and the user's revision, never the server."""
    return f"{address}@{endpoint.revision}" if endpoint.revision else address


def response_format(schema: str) -> dict[str, Any]:
    """The request's part for a JSON schema. Raises ModelError where it is none."""
    try:
        parsed = json.loads(schema)
    except ValueError as e:
        raise ModelError(f"the response schema is no JSON: {e}") from None
    form = {"name": "reply", "schema": parsed, "strict": _is_strict(parsed)}
    return {"type": "json_schema", "json_schema": form}


def _is_strict(schema: Any) -> bool:
    """Whether OpenAI's strict mode takes it: each object closed, each property required."""
    if isinstance(schema, list):
        return all(_is_strict(s) for s in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        wanted, given = schema.get("required", []), schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(wanted) != set(given):
            return False
    return all(_is_strict(s) for s in schema.values())


def _completions(client: Any) -> Any:
    """The call. The messages go in as `extra_body`: the client would walk through their types,
    which takes as long as all the rest of a request."""
    create = client.chat.completions.with_streaming_response.create

    def call(messages: list[dict[str, Any]], **rest: Any) -> Any:
        return create(messages=[], extra_body={"messages": messages}, **rest)

    return call


def _smaller(most: int, side: int, fault: Fault) -> tuple[int, int]:
    """The next smaller try. Raises the fault, said clearly, where there is none."""
    if most > 1:
        return most // 2, side
    if most and side // 2 >= SMALLEST_SIDE:
        return most, side // 2
    what = f"even one picture of {side} pixels is" if most else "the text is"
    raise Fault("failed", f"{what} too much for the model: {fault.note}")


def _with_note(reply: Reply, most: int, total: int, side: int, full: int, said: str) -> Reply:
    """The reply, with a note where it saw less than it was asked about."""
    if most == total and side == full:
        return reply
    fewer = f"{most} of {total} pictures sent" if most < total else f"{most} sent"
    size = f", {side} pixels wide" if side < full else ""
    note = f"{fewer}{size}: {said}"
    return replace(reply, note=f"{reply.note}; {note}" if reply.note else note)
