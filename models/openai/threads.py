"""Many requests at once, with a Ctrl-C that need not wait for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
