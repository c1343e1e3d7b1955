from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from reeldb.ingest.ahead import Ahead


def test_items_come_in_order_and_all_of_them() -> None:
    with Ahead(range(1000), lambda _: 1, 10) as items:
        assert list(items) == list(range(1000))


def test_the_producer_waits_when_the_limit_is_reached() -> None:
    made: list[int] = []

    def source() -> Iterator[int]:
        for i in range(100):
            made.append(i)
            yield i

    with Ahead(source(), lambda _: 10, 35) as items:
        first = next(iter(items))
        time.sleep(0.05)
        assert first == 0
        assert len(made) <= 1 + 3 + 1  # taken, waiting, in the producer's hand


def test_one_item_may_be_heavier_than_the_limit() -> None:
    with Ahead([1, 2, 3], lambda _: 1000, 10) as items:
        assert list(items) == [1, 2, 3]


def test_an_error_of_the_source_comes_after_its_items() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    got: list[int] = []
    with pytest.raises(ValueError, match="broken"), Ahead(source(), lambda _: 1, 10) as items:
        got.extend(items)
    assert got == [1]


def test_leaving_early_stops_the_thread() -> None:
    before = threading.active_count()

    def endless() -> Iterator[int]:
        while True:
            yield 1

    with pytest.raises(KeyboardInterrupt), Ahead(endless(), lambda _: 1, 10) as items:
        next(iter(items))
        raise KeyboardInterrupt
    assert threading.active_count() == before
