"""Pictures to vectors in a thread of its own, a batch at a time."""

from __future__ import annotations

from queue import Queue
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from reeldb.schema.errors import ModelError

if TYPE_CHECKING:
    from reeldb.ingest.sampling import Take
    from reeldb.schema.models import Embedder, Image

_BATCHES = 4  # that may wait


class Embedding:
    """Fills `Take.vector` for every picture put in; `done` is set when it is decided.

    A row of NaN leaves the vector None. Raises ModelError, at the next call, when the
    embedder fails. The context must be left for the last batch to be embedded.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._batch: list[tuple[Take, Image]] = []
        self._queue: Queue[list[tuple[Take, Image]] | None] = Queue(_BATCHES)
        self._error: BaseException | None = None
        self._thread = Thread(target=self._work, name="reel-embedding", daemon=True)

    def __enter__(self) -> Embedding:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if error is not None:
            self._error = self._error or error  # what waits is not worth embedding any more
        self._queue.put(self._batch)
        self._queue.put(None)
        self._thread.join()
        if error is None:
            self._check()

    def put(self, take: Take, image: Image) -> None:
        """Queues one picture, already of the size the embedder wants."""
        self._check()
        self._batch.append((take, image))
        if len(self._batch) >= self._embedder.batch_size:
            self._queue.put(self._batch)
            self._batch = []

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        while (batch := self._queue.get()) is not None:
            if batch and self._error is None:
                try:
                    self._embed(batch)
                except BaseException as error:  # raised again in the thread that puts
                    self._error = error

    def _embed(self, batch: list[tuple[Take, Image]]) -> None:
        vectors = np.asarray(self._embedder.embed_images([image for _, image in batch]), np.float32)
        if vectors.shape != (len(batch), self._embedder.dim):
            raise ModelError(
                f"{self._embedder.address} gave vectors of shape {vectors.shape} for {len(batch)} "
                f"pictures, not {(len(batch), self._embedder.dim)}; name another embedder"
            )
        for (take, _), vector in zip(batch, vectors, strict=True):
            take.vector = vector if np.isfinite(vector).all() else None
            take.done = True
