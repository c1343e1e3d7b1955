"""A chat completion to a typed reply: what was said, or why nothing was."""

from __future__ import annotations

from typing import Any

from reeldb.models.said import MOST_REFUSAL, judged
from reeldb.schema.models import Reply, Status

ROUND_CAPS = frozenset(2**n for n in range(11, 21))  # context lengths: 2,048 to 1,048,576


def reply_of(body: Any) -> Reply:
    """The reply in a completion's JSON, whatever is missing from it.

    `ok` is text that may be trusted to be the model's; `failed` where the answer was cut
    before it began or the JSON is no completion, so that it is asked again.
    """
    tokens, out = _usage(body)
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return Reply("failed", note="the server's answer holds no choices", tokens=tokens)
    finish = choice.get("finish_reason")
    said = _clean(message.get("content"))
    status, text, note = _judged(said, finish, _clean(message.get("refusal")).strip())
    if tokens in ROUND_CAPS:
        warning = (
            f"{tokens} tokens in all, a round number: the server may have cut what it read "
            "at its context length (Ollama: raise num_ctx)"
        )
        note = f"{note}; {warning}" if note else warning
    return Reply(status, text, note, tokens, out)


def _judged(said: str, finish: object, refusal: str) -> tuple[Status, str, str]:
    """The status, the text that counts, and the note."""
    if refusal:
        return "refused", "", f"the model declined: {refusal[:MOST_REFUSAL]}"
    if finish == "content_filter":
        return "refused", "", "stopped by the server's content filter"
    return judged(said, cut=finish == "length")


def _clean(content: object) -> str:
    """The text of a message's content, a string or a list of parts, fit to be stored."""
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict)]
        content = "".join(p for p in parts if isinstance(p, str))
    if not isinstance(content, str):
        return ""
    # JSON can hold half a surrogate pair, which no table can.
    return content.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _usage(body: Any) -> tuple[int, int]:
    """Tokens in all and tokens written; 0 where the server does not count."""
    usage = body.get("usage") if isinstance(body, dict) else None
    if not isinstance(usage, dict):
        return 0, 0
    read, out, whole = (
        n if isinstance(n := usage.get(key), int) and n > 0 else 0
        for key in ("prompt_tokens", "completion_tokens", "total_tokens")
    )
    return whole or read + out, out
