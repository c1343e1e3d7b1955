"""Batches of the size that memory allows: halved when it runs out, grown again later."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")

PATIENCE = 8  # batches that must work before a size that failed once is tried again
MOST_PATIENCE = 512


class Batches:
    """Runs work in batches of at most `most` items.

    After an out-of-memory error the same items are tried again in batches half as large; after
    `PATIENCE` full batches the size is doubled again, and after each such try that fails, the
    patience is. Not safe for several threads at once: the caller holds the network's lock.
    """

    def __init__(self, most: int) -> None:
        self.most = max(1, most)
        self.size = self.most
        self.halved = 0  # how often memory ran out
        self._worked = 0
        self._grew = False  # whether the size is a try
        self._patience = PATIENCE

    def run(
        self,
        items: Sequence[A],
        work: Callable[[Sequence[A]], Sequence[B]],
        lost: Callable[[A], B],
    ) -> list[B]:
        """One result an item, in order; `lost(item)` for one that alone is too much."""
        done: list[B] = []
        while len(done) < len(items):
            batch = items[len(done) : len(done) + self.size]
            results = self._tried(batch, work)
            if results is not None:
                done += results
                self._grow(len(batch))
            elif len(batch) == 1:
                done.append(lost(batch[0]))
            else:
                self._halve(len(batch))
        return done

    def _tried(
        self, batch: Sequence[A], work: Callable[[Sequence[A]], Sequence[B]]
    ) -> Sequence[B] | None:
        """The results, or None where memory ran out. The error is let go of before memory is
        given back: its traceback holds the batch's tensors."""
        try:
            return work(batch)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
        give_back()
        return None

    def _halve(self, tried: int) -> None:
        self.halved += 1
        if self._grew:
            self._patience = min(2 * self._patience, MOST_PATIENCE)
        self.size = max(1, tried // 2)
        self._worked, self._grew = 0, False

    def _grow(self, count: int) -> None:
        if count < self.size or self.size == self.most:
            return  # the rest of a wave says nothing about a larger batch
        self._worked += 1
        if self._worked >= self._patience:
            self.size = min(self.most, 2 * self.size)
            self._worked, self._grew = 0, True


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the error means that the device, or the machine, has no memory for a batch."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(error, torch.OutOfMemoryError):
        return True
    if isinstance(error, MemoryError):
        return True
    # the allocator of the CPU has no error class of its own
    text = str(error)
    return isinstance(error, RuntimeError) and (
        "DefaultCPUAllocator" in text or "out of memory" in text
    )


def give_back() -> None:
    """Frees what a failed batch held, on the device too."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is None:
        return
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()
