from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from reeldb.models.ahead import gathered_ahead


def running() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "ahead"]


def none_is_left() -> bool:
    for thread in running():
        thread.join(10)
    return not running()


class Watched:
    """An iterator of so many numbers; `begun[i]` is set when number i is asked for."""

    def __init__(self, count: int, wrong_at: int | None = None) -> None:
        self.begun = [threading.Event() for _ in range(count)]
        self.wrong_at = wrong_at

    def __iter__(self) -> Iterator[int]:
        for i, event in enumerate(self.begun):
            event.set()
            if i == self.wrong_at:
                raise OSError("the disk is gone")
            yield i


@pytest.mark.parametrize("count", [0, 1, 3, 4, 7, 8])
def test_batches_hold_every_item_once_in_order(count: int) -> None:
    batches = list(gathered_ahead(Watched(count), 4))
    assert [i for batch in batches for i in batch] == list(range(count))
    assert all(len(batch) == 4 for batch in batches[:-1])
    assert none_is_left()


def test_the_next_batch_is_gathered_while_one_is_worked_on_and_no_further() -> None:
    items = Watched(20)
    batches = gathered_ahead(items, 4)
    for number, batch in enumerate(batches):
        assert batch[0] == 4 * number
        last = min(4 * number + 7, 19)
        assert items.begun[last].wait(10)  # of the batch after this one
        assert not any(event.is_set() for event in items.begun[last + 1 :])
    assert none_is_left()


def test_an_error_comes_after_the_items_before_it() -> None:
    batches = gathered_ahead(Watched(9, wrong_at=6), 4)
    assert [next(batches), next(batches)] == [[0, 1, 2, 3], [4, 5]]
    with pytest.raises(OSError, match="the disk is gone"):
        next(batches)
    assert none_is_left()


def test_stopping_early_leaves_no_thread_behind() -> None:
    items = Watched(100)
    batches = gathered_ahead(items, 4)
    next(batches)
    batches.close()
    assert none_is_left()
    assert not items.begun[9].is_set()
