"""Content addresses: the same request has the same key on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

ID_BYTES = 16


def digest(*parts: bytes | str) -> str:
    """A 32-character hexadecimal BLAKE2b digest; parts are length-prefixed, so no two
    different lists of parts read alike.

    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    h = hashlib.blake2b(digest_size=ID_BYTES)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()


def request_key(request: Mapping[str, object]) -> str:
    """The address of a whole rendered request (architecture, 'The ledger').

    The mapping must hold everything that can change the reply and nothing else; it is
    written as canonical JSON, so floats must have been rounded to integers before.
    """
    return digest(json.dumps(request, sort_keys=True, ensure_ascii=True, separators=(",", ":")))


def caption_key(
    content_id: str,
    times_ms: Sequence[int],
    prompt: str,
    model: str,
    *,
    size: int,
    schema: str = "",
    temperature_milli: int = 0,
    seed: int = 0,
) -> str:
    """The address of one caption.

    `times_ms` are nominal picture times, `size` the longest side in pixels the pictures are
    decoded to, `prompt` every word sent, `model` the captioner's identity.
    """
    return request_key(
        {
            "what": "caption",
            "content": content_id,
            "times_ms": list(times_ms),
            "size": size,
            "prompt": prompt,
            "schema": schema,
            "temperature": temperature_milli,
            "seed": seed,
            "model": model,
        }
    )


def clip_look_key(content_id: str, tool: str, model: str, times_ms: Sequence[int]) -> str:
    """The address of one look of a tool at several pictures, by their nominal times."""
    return request_key(
        {
            "what": "look",
            "content": content_id,
            "tool": tool,
            "model": model,
            "times_ms": list(times_ms),
        }
    )


def look_key(content_id: str, tool: str, model: str, start_ms: int, end_ms: int) -> str:
    """The address of one look of a tool at a picture (`start_ms == end_ms`) or a window."""
    return request_key(
        {
            "what": "look",
            "content": content_id,
            "tool": tool,
            "model": model,
            "window": [start_ms, end_ms],
        }
    )
