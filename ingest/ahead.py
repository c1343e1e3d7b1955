"""Running a producer in another thread, bounded by the weight of what waits, not its number."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from threading import Condition, Thread
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")


class Ahead(Generic[T]):
    """Iterates over `source`, which runs in a thread at most `limit` bytes ahead.

    At least one item may wait, however heavy. An error of the source is raised here, after
    the items before it. Leaving the context stops the thread before its next item.
    """

    def __init__(self, source: Iterable[T], weigh: Callable[[T], int], limit: int) -> None:
        self._source = source
        self._weigh = weigh
        self._limit = limit
        self._items: deque[tuple[T, int]] = deque()
        self._waiting = 0  # bytes
        self._changed = Condition()
        self._over = False
        self._stopped = False
        self._error: BaseException | None = None
        self._thread = Thread(target=self._produce, name="reel-ahead", daemon=True)

    def __enter__(self) -> Ahead[T]:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        with self._changed:
            self._stopped = True
            self._items.clear()
            self._changed.notify_all()
        self._thread.join()

    def __iter__(self) -> Iterator[T]:
        while True:
            with self._changed:
                while not self._items and not self._over:
                    self._changed.wait()
                if not self._items:
                    break
                item, weight = self._items.popleft()
                self._waiting -= weight
                self._changed.notify_all()
            yield item
        if self._error is not None:
            raise self._error

    def _produce(self) -> None:
        try:
            for item in self._source:
                if not self._put(item):
                    break
        except BaseException as error:  # raised again in the consumer's thread
            self._error = error
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _put(self, item: T) -> bool:
        weight = self._weigh(item)
        with self._changed:
            while self._items and self._waiting + weight > self._limit and not self._stopped:
                self._changed.wait()
            if self._stopped:
                return False
            self._items.append((item, weight))
            self._waiting += weight
            self._changed.notify_all()
        return True
