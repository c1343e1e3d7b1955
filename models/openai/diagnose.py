"""What an error of a server means for the request, decided from its status and its words."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import httpx2
import openai

from reeldb.models.openai.fault import Fault, NoJson

SHOWN = 200  # characters of a server's message that are passed on

_AGAIN = {408, 409, 425, 429}
_NO_CREDIT = re.compile(r"insufficient_quota|exceeded your current quota|insufficient credit", re.I)
_LENGTH = re.compile(r"max_(completion_)?tokens\W.{0,40}(too large|at most)", re.I)
_LARGE = re.compile(
    r"context.{0,3}(length|window|size)|maximum context|prompt is too long|too many (tokens|images)"
    r"|at most \d+ (image|multimodal|item)|(image|request|payload|input).{0,20} too (large|long)"
    r"|maximum (number|amount) of (images|tokens)|max(imum)?[ _]images|request entity too large"
    r"|exceeds? .{0,40}(limit|n_ctx)|image size limit",
    re.I,
)
_BLIND = re.compile(
    r"not a multimodal|(image|vision)s?.{0,20} (is|are) not supported"
    r"|not support.{0,20}(image|vision)|image_url.{0,40}only supported",
    re.I,
)
_POLICY = re.compile(
    r"content_filter|content_policy|content management policy|safety system|moderation|flagged",
    re.I,
)
_MODEL = re.compile(
    r"model_not_found|invalid model|unknown model|model.{0,120}(not found|not exist|not available)"
    r"|no such model",
    re.I | re.S,
)


def fault_of(
    error: Exception, base_url: str, key: str, optional: tuple[str, ...] = (), now_s: float = 0.0
) -> Fault:
    """The fault behind an exception of the client. `optional` are the parameters that could
    be left out; `now_s`, seconds since 1970, turns a Retry-After date into seconds."""
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, base_url, key, optional, now_s)
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException | TimeoutError):
        return Fault("again", "no whole reply in time")
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            reason = one_line(getattr(cause, "verify_message", "") or cause.reason or cause, key)
            return Fault("misused", f"{base_url}: no secure connection: {reason}; check base_url")
    for cause in causes:
        if isinstance(cause, httpx2.ConnectError):
            return Fault("unreachable", f"cannot connect to {base_url}: {one_line(cause, key)}")
    if isinstance(error, openai.APIConnectionError | httpx2.HTTPError):
        return Fault("again", f"the connection broke: {one_line(causes[-1], key)}")
    if isinstance(error, NoJson):
        return Fault("unreachable" if error.page else "again", f"{base_url} gives {error}")
    return Fault("failed", one_line(error, key))


def one_line(text: object, key: str = "") -> str:
    """The text on one line, short, printable, and without the key."""
    line = str(text)
    if key:
        line = line.replace(key, "***")
    line = " ".join("".join(c if c.isprintable() else " " for c in line).split())
    return line if len(line) <= SHOWN else line[: SHOWN - 3] + "..."


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """The seconds that a server asks to wait, from any of the three ways to say it."""
    try:
        if (ms := headers.get("retry-after-ms")) is not None:
            return max(0.0, float(ms) / 1000)
        text = headers.get("retry-after")
        if text is None:
            return None
        try:
            return max(0.0, float(text))
        except ValueError:
            return max(0.0, parsedate_to_datetime(text).timestamp() - now_s)
    except (ValueError, TypeError):
        return None


def _of_status(
    error: openai.APIStatusError, base_url: str, key: str, optional: tuple[str, ...], now_s: float
) -> Fault:
    status = error.status_code
    body = error.body
    message = body.get("message") or body.get("detail") if isinstance(body, dict) else body
    words = f"{message or ''} {error.code or ''} {error.type or ''} {error.param or ''}"
    note = f"{status}: {one_line(message or error.code or error.response.reason_phrase, key)}"
    if 300 <= status < 400:
        return Fault("misused", f"{base_url} redirects elsewhere; set base_url to where it leads")
    if status == 402 or _NO_CREDIT.search(words):
        return Fault("misused", f"{base_url}: no credit left for this key ({status}); top it up")
    if _POLICY.search(words) and status < 500:
        return Fault("refused", note)
    if status in (401, 403):
        # The server's own words may quote the key, so they are left out.
        return Fault("misused", f"{base_url} refuses the key ({status}); check the key and key_env")
    return _of_words(status, words, note, base_url, optional, _wait(error, now_s))


def _of_words(
    status: int,
    words: str,
    note: str,
    base_url: str,
    optional: tuple[str, ...],
    wait_s: float | None,
) -> Fault:
    if status != 429 and _BLIND.search(words):
        return Fault("misused", f"the model at {base_url} takes no pictures ({note}); name another")
    if status in (400, 404, 422) and _MODEL.search(words):
        return Fault("misused", note, model=True)
    if status in (404, 405):
        return Fault("misused", f"nothing answers under {base_url} ({note}); does it end in /v1?")
    named = tuple(p for p in optional if re.search(rf"\b{p}\b", words))
    if named and _LENGTH.search(words):
        return Fault("parameter", note, parameters=named)
    if status == 413 or (status != 429 and _LARGE.search(words)):
        return Fault("large", note)
    if status in _AGAIN or (status >= 500 and status != 501):
        return Fault("again", note, wait_s=wait_s)
    if status in (400, 422) and named:
        return Fault("parameter", note, parameters=named)
    if status in (400, 422) and "response_format" in optional:
        # LM Studio and others refuse it without naming it.
        return Fault("parameter", note, parameters=("response_format",))
    return Fault("failed", note)


def _wait(error: openai.APIStatusError, now_s: float) -> float | None:
    return retry_after_s(error.response.headers, now_s)


def _causes(error: BaseException) -> list[BaseException]:
    found = [error]
    while (cause := found[-1].__cause__ or found[-1].__context__) and cause not in found:
        found.append(cause)
    return found
