"""What a model said, told apart: its thoughts, its refusals, its silence."""

from __future__ import annotations

import re

from reeldb.schema.models import Status

MOST_REFUSAL = 300  # characters; a longer text says more than no

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S)
_NO = re.compile(
    r"\A\W*(?:(?:i['’]?m|i am) (?:very |really |so )?sorry[,.]? (?:but )?)?"
    r"(?:i (?:can['’]?t|cannot|can not|won['’]?t|am unable to|am not able to)"
    r"|i['’]m (?:unable|not able) to)"
    r" (?:assist|help|comply|fulfil|process|provide|describe|discuss|identify|engage|do that)",
    re.I,
)


def without_thoughts(said: str) -> str:
    """The text after a leading `<think>` part; '' where it never ended."""
    return _THOUGHT.sub("", said).strip()


def judged(said: str, *, cut: bool) -> tuple[Status, str, str]:
    """The status, the text that counts, and the note, of what a model wrote. `cut` says that
    its token limit ended it."""
    text = without_thoughts(said)
    if not text and cut:
        spent = "thinking" if said.strip() else "nothing"
        return "failed", "", f"its tokens went for {spent}, none for a reply; raise max_tokens"
    if not text:
        return "empty", "", "the model said nothing"
    if len(text) <= MOST_REFUSAL and _NO.search(text):
        return "refused", "", f"the model declined: {text}"
    return "ok", text, "cut off at its token limit; raise max_tokens" if cut else ""
