"""What a test server can do wrong, one value a fault."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

TOO_LONG = "This model's maximum context length is 4096 tokens. However, you requested 5120."


@dataclass(frozen=True, slots=True)
class Fault:
    """One wrong answer. `manner` is how it goes out: whole, after `seconds` without a word,
    broken off in mid-body, or byte by byte, one each `seconds`."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: Literal["whole", "hang", "reset", "drip"] = "whole"
    seconds: float = 0.0


def status(number: int, message: str = "told so", *, retry_after: str = "", **error: Any) -> Fault:
    """An error with OpenAI's body; `error` are more of its fields, such as `code`."""
    body = json.dumps({"error": {"message": message, **error}}).encode()
    return Fault(number, body, {"Retry-After": retry_after} if retry_after else {})


def too_many(retry_after: str = "") -> Fault:
    return status(429, "Rate limit reached", retry_after=retry_after, code="rate_limit_exceeded")


def too_long() -> Fault:
    return status(400, TOO_LONG, code="context_length_exceeded")


def hang(seconds: float = 30.0) -> Fault:
    """Says nothing for so long, or until the server is closed."""
    return Fault(manner="hang", seconds=seconds)


def reset() -> Fault:
    """Half a body, then a reset of the connection."""
    return Fault(body=completion("never read to its end"), manner="reset")


def drip(seconds: float) -> Fault:
    """A good body, one byte each `seconds`."""
    return Fault(body=completion("slow"), manner="drip", seconds=seconds)


def garbage() -> Fault:
    return Fault(body=b'{"choices": [{"mess')


def page() -> Fault:
    return Fault(body=b"<!doctype html><title>Welcome</title>")


def no_choices() -> Fault:
    return Fault(body=b'{"choices": [], "usage": {"total_tokens": 3}}')


def says(text: str | None, finish: str = "stop", **message: Any) -> Fault:
    """A good reply of these words."""
    return Fault(body=completion(text, finish, **message))


def refusal(text: str = "I can't help with that.") -> Fault:
    return says(None, refusal=text)


def filtered() -> Fault:
    return says("", "content_filter")


def capped(text: str = "A cut", total: int = 4096) -> Fault:
    """What Ollama says when it has read only the end of a prompt."""
    return Fault(body=completion(text, "length", total=total))


def completion(text: str | None, finish: str = "stop", *, total: int = 0, **message: Any) -> bytes:
    """The body of a chat completion."""
    out = len((text or "").split())
    usage = {"prompt_tokens": (total or out + 10) - out, "completion_tokens": out}
    said = {"role": "assistant", "content": text, **message}
    return json.dumps(
        {
            "object": "chat.completion",
            "choices": [{"index": 0, "message": said, "finish_reason": finish}],
            "usage": {**usage, "total_tokens": sum(usage.values())},
        }
    ).encode()
