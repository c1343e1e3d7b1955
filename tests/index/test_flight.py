from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from reeldb.index.flight import Flights
from reeldb.schema.digests import digest

KEYS = [digest(str(i)) for i in range(6)]
HOLD = """
import sys, time
from pathlib import Path
from reeldb.index.flight import Flights
with Flights(Path(sys.argv[1])).claim(sys.argv[2:]) as mine:
    print(len(mine), flush=True)
    sys.stdin.read()
"""


def holder(place: Path, *keys: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(place), *keys],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == str(len(keys))
    return process


def test_a_key_has_one_holder_among_openers_of_one_archive(tmp_path: Path) -> None:
    with Flights(tmp_path).claim(KEYS[:3]) as mine:
        assert mine == set(KEYS[:3])
        with Flights(tmp_path).claim(KEYS[2:5]) as others:
            assert others == set(KEYS[3:5])
    with Flights(tmp_path).claim(KEYS) as again:
        assert again == set(KEYS)


def test_an_error_frees_the_keys(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), Flights(tmp_path).claim(KEYS):
        raise RuntimeError
    with Flights(tmp_path).claim(KEYS) as mine:
        assert mine == set(KEYS)


def test_another_process_holds_its_keys_until_it_dies(tmp_path: Path) -> None:
    flights = Flights(tmp_path)
    with holder(tmp_path, *KEYS[:2]) as process:
        with flights.claim(KEYS) as mine:
            assert mine == set(KEYS[2:])
        process.kill()
    flights.wait(KEYS[0])
    with flights.claim(KEYS) as mine:
        assert mine == set(KEYS)


def test_waiting_ends_when_the_holder_is_done(tmp_path: Path) -> None:
    order: list[str] = []
    claimed = threading.Event()

    def compute() -> None:
        with Flights(tmp_path).claim(KEYS[:1]):
            claimed.set()
            time.sleep(0.1)
            order.append("computed")

    thread = threading.Thread(target=compute)
    thread.start()
    claimed.wait()
    Flights(tmp_path).wait(KEYS[0])
    order.append("seen")
    thread.join()
    assert order == ["computed", "seen"]


def test_many_threads_compute_each_key_once(tmp_path: Path) -> None:
    done: list[str] = []

    def compute() -> None:
        flights = Flights(tmp_path)
        with flights.claim(KEYS) as mine:
            for key in mine - set(done):
                done.append(key)
                time.sleep(0.001)
        for key in KEYS:
            flights.wait(key)

    threads = [threading.Thread(target=compute) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == sorted(KEYS)


def test_a_folder_that_cannot_be_written_still_keeps_threads_apart(tmp_path: Path) -> None:
    nowhere = tmp_path / "not there"
    with Flights(nowhere).claim(KEYS[:1]) as mine, Flights(nowhere).claim(KEYS[:1]) as others:
        assert (mine, others) == ({KEYS[0]}, set())
