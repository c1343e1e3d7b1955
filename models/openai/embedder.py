"""Text embeddings: texts to unit vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from reeldb.models.openai.caller import Caller, Job
from reeldb.models.openai.endpoint import Endpoint
from reeldb.models.openai.fault import Fault
from reeldb.models.openai.server import Server
from reeldb.models.openai.speaker import identity
from reeldb.models.openai.threads import in_threads
from reeldb.schema.errors import ModelError

if TYPE_CHECKING:
    from reeldb.schema.models import Vectors

BATCH = 64  # texts a request
SHORTEST = 64  # characters; a text the server finds too long is halved down to this


class OpenAITextEmbedder:
    """`schema.models.TextEmbedder`. A text longer than the model takes is embedded in halves,
    whose mean stands for it. `dim` is 0 until the first vectors have come."""

    can = "text embeddings by a model behind an OpenAI-compatible server"
    cannot = "embed pictures; name open_clip:... as the embedder for that"

    def __init__(
        self,
        address: str,
        endpoint: Endpoint,
        server: Server | None = None,
        *,
        caller: Caller | None = None,
    ) -> None:
        self.address = address
        self.endpoint = endpoint
        self.caller = caller or Caller(address.partition(":")[2], endpoint, server)
        self.identity = identity(address, endpoint)
        self.dim = 0

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Shape `(n, dim)`. Raises ModelError where the server gives no vectors: half an
        answer is of no use here, and nothing of it is lost that would not be free again."""
        stop = Event()
        groups = [list(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
        work = partial(self._group, stop=stop)
        found = in_threads(work, groups, self.endpoint.concurrency, stop)
        if not found:
            return np.empty((0, self.dim), np.float32)
        if len({rows.shape[1] for rows in found}) > 1:
            raise ModelError(f"{self.address}: vectors of different lengths came back")
        rows = np.concatenate(found)
        self.dim = rows.shape[1]
        return rows

    def metered(self, debit: Callable[[], bool]) -> OpenAITextEmbedder:
        return OpenAITextEmbedder(self.address, self.endpoint, caller=self.caller.metered(debit))

    def _group(self, texts: list[str], stop: Event) -> Vectors:
        try:
            return _unit(self._split(texts, stop))
        except Fault as fault:
            raise self.caller.error(fault) from None

    def _split(self, texts: list[str], stop: Event) -> Vectors:
        """Vectors of the texts: in one request, in two where it is too large for one."""
        try:
            return self._ask(texts, stop)
        except Fault as fault:
            if fault.kind != "large":
                raise
            if len(texts) > 1:
                half = len(texts) // 2
                parts = [self._split(texts[:half], stop), self._split(texts[half:], stop)]
                return np.concatenate(parts)
            if len(texts[0]) <= SHORTEST:
                raise
        halves = _unit(self._split(_halves(texts[0]), stop))
        return np.asarray(halves.mean(axis=0, keepdims=True), np.float32)

    def _ask(self, texts: list[str], stop: Event) -> Vectors:
        # An empty text is refused by some servers, and a space is as empty.
        body = {
            "model": self.caller.model,
            "input": [t if t.strip() else " " for t in texts],
            "encoding_format": "float",
        }
        found = self.caller.ask(_embeddings, body, Job(stop))
        data = found.get("data") if isinstance(found, dict) else None
        try:
            ordered = sorted(data or [], key=lambda d: d["index"])
            rows = np.array([d["embedding"] for d in ordered], np.float32)
        except (KeyError, TypeError, ValueError):
            rows = np.empty(0, np.float32)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise Fault("failed", f"the server gave no vector for each of {len(texts)} texts")
        return rows


def _embeddings(client: Any) -> Any:
    return client.embeddings.with_streaming_response.create


def _halves(text: str) -> list[str]:
    """The text in two, at the space nearest its middle."""
    middle = len(text) // 2
    cut = text.rfind(" ", 1, middle + 1)
    cut = cut if cut > middle // 2 else middle
    return [text[:cut], text[cut:]]


def _unit(rows: Vectors) -> Vectors:
    """The rows at length 1; a row of zeros stays so."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1), np.float32)
