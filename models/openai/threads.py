"""Many requests at once, with a Ctrl-C that need not wait for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Item], Result], items: Sequence[Item], threads: int, stop: Event
) -> list[Result]:
    """`work` of each item, in order, by at most `threads` daemon threads.

    An interrupt, or an exception in `work`, sets `stop` and is raised; started work sees
    `stop` and ends by itself. (A ThreadPoolExecutor would be joined before the exit.)
    """
    results: dict[int, Result] = {}
    errors: list[BaseException] = []
    waiting = iter(range(len(items)))
    lock = Lock()

    def run() -> None:
        while not stop.is_set():
            with lock:
                i = next(waiting, None)
            if i is None:
                return
            try:
                results[i] = work(items[i])
            except BaseException as e:
                errors.append(e)
                stop.set()

    workers = [Thread(target=run, daemon=True) for _ in range(min(threads, len(items)))]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    except BaseException:
        stop.set()
        raise
    if errors:
        raise errors[0]
    return [results[i] for i in range(len(items))]


def as_they_come(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int, stop: Event
) -> Iterator[tuple[int, Result]]:
    """`work` of each item with its place, in the order in which results are there.

    An item is taken, by one thread at a time, when a thread is free for it. An exception, in
    `work` or in `items`, is raised after the results that were still being made. Whoever stops
    listening sets `stop`: then nothing more is begun.
    """
    results: SimpleQueue[tuple[int, Result] | BaseException | None] = SimpleQueue()
    waiting = enumerate(items)
    lock = Lock()

    def run() -> None:
        try:
            while True:
                with lock:
                    taken = None if stop.is_set() else next(waiting, None)
                if taken is None:
                    return
                results.put((taken[0], work(taken[1])))
        except BaseException as e:
            stop.set()
            results.put(e)
        finally:
            results.put(None)

    error: BaseException | None = None
    running = threads
    for _ in range(threads):
        Thread(target=run, daemon=True).start()
    try:
        while running:
            result = results.get()
            if result is None:
                running -= 1
            elif isinstance(result, BaseException):
                error = error or result
            else:
                yield result
    finally:
        stop.set()
    if error is not None:
        raise error
