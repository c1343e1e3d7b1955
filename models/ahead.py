"""Batches that are gathered ahead: the next one while the last is worked on."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from queue import SimpleQueue
from threading import Event, Semaphore, Thread
from typing import TypeVar

Item = TypeVar("Item")


def gathered_ahead(items: Iterable[Item], size: int) -> Generator[list[Item], None, None]:
    """Batches of `size` items in order, the last one shorter.

    One daemon thread advances `items`, and is never more than one batch ahead. What `items`
    raises comes after the items before it. Whoever stops listening closes the iterator: then
    the thread ends once `items` lets go of it, and nobody waits for that.
    """
    ready: SimpleQueue[list[Item] | BaseException | None] = SimpleQueue()
    room, stop = Semaphore(1), Event()
    thread = Thread(
        target=_gather, args=(items, size, ready, room, stop), name="ahead", daemon=True
    )
    thread.start()
    try:
        while (batch := ready.get()) is not None:
            if isinstance(batch, BaseException):
                raise batch
            room.release()
            yield batch
    finally:
        stop.set()
        room.release()


def _gather(
    items: Iterable[Item],
    size: int,
    ready: SimpleQueue[list[Item] | BaseException | None],
    room: Semaphore,
    stop: Event,
) -> None:
    batch: list[Item] = []
    error: BaseException | None = None
    room.acquire()
    try:
        for item in items:
            batch.append(item)
            if stop.is_set():
                return
            if len(batch) == size:
                ready.put(batch)
                batch = []
                room.acquire()
                if stop.is_set():
                    return
    except BaseException as e:
        error = e
    if batch:
        ready.put(batch)
    ready.put(error)
