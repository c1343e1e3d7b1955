from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from reeldb.index.lock import Claim, WriterLock, living_claims
from reeldb.schema.errors import ArchiveError
from tests.index.processes import finish, start

HOLD = """
import sys, pathlib
from reeldb.index.lock import Claim, WriterLock
with WriterLock(pathlib.Path(sys.argv[1]) / "lock"):
    claim = Claim(pathlib.Path(sys.argv[1]) / "writers", "theirs")
    print("held", flush=True)
    sys.stdin.readline()
"""

FORK = """
import os, pathlib, sys
from reeldb.index.lock import WriterLock
from reeldb.schema.errors import ArchiveError
path = pathlib.Path(sys.argv[1])
with WriterLock(path):
    child = os.fork()
    if child == 0:
        try:
            with WriterLock(path, 0.05):
                print("mine", flush=True)
        except ArchiveError:
            print("busy", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_the_same_thread_may_take_it_again(tmp_path: Path) -> None:
    with WriterLock(tmp_path / "lock", 0), WriterLock(tmp_path / "lock", 0):
        pass
    with WriterLock(tmp_path / "lock", 0):
        pass


def test_another_thread_waits_its_turn(tmp_path: Path) -> None:
    seen: list[str] = []

    def other() -> None:
        with WriterLock(tmp_path / "lock", 5):
            seen.append("other")

    with WriterLock(tmp_path / "lock"):
        thread = threading.Thread(target=other)
        thread.start()
        time.sleep(0.05)
        seen.append("first")
    thread.join()
    assert seen == ["first", "other"]


def test_another_process_is_named_when_the_wait_is_over_and_its_death_frees_the_lock(
    tmp_path: Path,
) -> None:
    holder = start(HOLD, tmp_path)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    with (
        pytest.raises(ArchiveError, match=f"locked by process {holder.pid} on .* since 20"),
        WriterLock(tmp_path / "lock", 0.1),
    ):
        pass
    assert living_claims(tmp_path / "writers") == {"theirs"}
    holder.kill()
    holder.communicate()
    with WriterLock(tmp_path / "lock", 5):
        assert living_claims(tmp_path / "writers") == set()
    assert list((tmp_path / "writers").iterdir()) == []


def test_a_released_claim_is_gone(tmp_path: Path) -> None:
    claim = Claim(tmp_path / "writers", "mine")
    assert living_claims(tmp_path / "writers") == {"mine"}
    claim.release()
    claim.release()
    assert living_claims(tmp_path / "writers") == set()


def test_an_error_inside_frees_the_lock(tmp_path: Path) -> None:
    with pytest.raises(KeyError), WriterLock(tmp_path / "lock"):
        raise KeyError
    with WriterLock(tmp_path / "lock", 0):
        pass


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with (
        pytest.raises(ArchiveError, match="cannot write here"),
        WriterLock(tmp_path / "absent" / "lock"),
    ):
        pass


def test_a_forked_child_does_not_believe_it_holds_the_lock(tmp_path: Path) -> None:
    process = start(FORK, tmp_path / "lock")
    assert finish(process) == "busy\n"
