"""A chat completion to a typed reply: what was said, or why nothing was."""

from __future__ import annotations

import re
from typing import Any

from reeldb.schema.models import Reply

ROUND_CAPS = frozenset(2**n for n in range(11, 21))  # context lengths: 2,048 to 1,048,576
MOST_REFUSAL = 300  # characters; a longer text says more than no

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S)
_NO = re.compile(
    r"\A\W*(?:(?:i['’]?m|i am) (?:very |really |so )?sorry[,.]? (?:but )?)?"
    r"(?:i (?:can['’]?t|cannot|can not|won['’]?t|am unable to|am not able to)"
    r"|i['’]m (?:unable|not able) to)"
    r" (?:assist|help|comply|fulfil|process|provide|describe|discuss|identify|engage|do that)",
    re.I,
)


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
    text = _THOUGHT.sub("", said).strip()
    status, note = _judged(text, said, finish, _clean(message.get("refusal")).strip())
    if tokens in ROUND_CAPS:
        warning = (
            f"{tokens} tokens in all, a round number: the server may have cut what it read "
            "at its context length (Ollama: raise num_ctx)"
        )
        note = f"{note}; {warning}" if note else warning
    return Reply(status, text if status == "ok" else "", note, tokens, out)  # type: ignore[arg-type]


def _judged(text: str, said: str, finish: object, refusal: str) -> tuple[str, str]:
    """The status and the note."""
    if refusal:
        return "refused", f"the model declined: {refusal[:MOST_REFUSAL]}"
    if finish == "content_filter":
        return "refused", "stopped by the server's content filter"
    if not text and finish == "length":
        spent = "thinking" if said.strip() else "nothing"
        return "failed", f"its tokens went for {spent}, none for a reply; raise max_tokens"
    if not text:
        return "empty", "the model said nothing"
    if len(text) <= MOST_REFUSAL and _NO.search(text):
        return "refused", f"the model declined: {text}"
    return "ok", "cut off at its token limit; raise max_tokens" if finish == "length" else ""


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
