from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from reeldb.models.torch.batches import PATIENCE, Batches, is_out_of_memory


class Device:
    """Doubles numbers, at most `room` at a time."""

    def __init__(self, room: int, error: BaseException | None = None) -> None:
        self.room = room
        self.error = error or MemoryError()
        self.tried: list[int] = []

    def work(self, items: Sequence[int]) -> list[int]:
        self.tried.append(len(items))
        if len(items) > self.room:
            raise self.error
        return [2 * i for i in items]


def lost(item: int) -> int:
    return -item


def test_results_come_in_order_in_batches_of_the_size_given() -> None:
    device, batches = Device(8), Batches(4)
    assert batches.run(range(10), device.work, lost) == [2 * i for i in range(10)]
    assert device.tried == [4, 4, 2]


def test_a_batch_is_halved_until_it_fits_and_nothing_is_lost() -> None:
    device, batches = Device(3), Batches(16)
    assert batches.run(range(16), device.work, lost) == [2 * i for i in range(16)]
    assert device.tried[:4] == [16, 8, 4, 2]
    assert batches.halved == 3


def test_the_size_grows_again_when_memory_is_back() -> None:
    device, batches = Device(2), Batches(8)
    batches.run(range(8), device.work, lost)
    assert batches.size == 2
    device.room = 8
    batches.run(range(4 * PATIENCE * 8), device.work, lost)
    assert batches.size == 8


def test_each_failed_growth_makes_it_more_patient() -> None:
    device, batches = Device(2), Batches(4)
    batches.run(range(400), device.work, lost)
    failures = [i for i, n in enumerate(device.tried) if n == 4]
    gaps = [b - a for a, b in pairwise(failures)]
    assert gaps and gaps == sorted(gaps) and gaps[-1] >= 2 * gaps[0]


def test_an_item_that_alone_is_too_much_is_lost_and_the_others_are_not() -> None:
    def work(items: Sequence[int]) -> list[int]:
        if 3 in items:
            raise MemoryError
        return [2 * i for i in items]

    assert Batches(4).run(range(1, 6), work, lost) == [2, 4, -3, 8, 10]


def test_other_errors_go_through() -> None:
    device = Device(1, ValueError("no such thing"))
    with pytest.raises(ValueError, match="no such thing"):
        Batches(4).run(range(4), device.work, lost)
    assert device.tried == [4]


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"),
        RuntimeError("MPS backend out of memory (MPS allocated: 8.00 GB)"),
    ],
)
def test_out_of_memory_is_known_in_every_form(error: Exception) -> None:
    assert is_out_of_memory(error)
    assert not is_out_of_memory(RuntimeError("shapes do not match"))


def test_the_error_that_torch_raises_on_a_gpu_is_known() -> None:
    torch = pytest.importorskip("torch")
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
