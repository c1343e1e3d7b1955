"""Batches that run in several processes, that are interrupted, or that lose a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import reeldb
from reeldb.index.archive import Archive
from reeldb.ingest import worker, workers
from reeldb.ingest.add import add
from reeldb.ingest.report import Event
from reeldb.schema.errors import ArchiveError
from reeldb.schema.settings import Settings
from tests.clips import make_clip
from tests.ingest.conftest import EMBEDDER

SLOW = "fake:embedder?dim=16&batch=1&seconds=0.25"


def folder_of_clips(root: Path, count: int, seconds: float = 2.0) -> Path:
    folder = root / "videos"
    folder.mkdir()
    for i in range(count):
        make_clip(folder / f"{i}.mp4", [("red", seconds), ("blue", 1 + i * 0.2)], text=f"clip {i}")
    return folder


def names(archive: Archive) -> list[str]:
    found: list[str] = archive.snapshot().relation("videos")["video"].to_pylist()
    return found


def add_in_a_process(archive: Path, folder: Path, count: int) -> subprocess.Popen[str]:
    """`add` in a script without a `__main__` guard; it prints READY after the first video."""
    script = f"""
from reeldb.index.archive import Archive
from reeldb.ingest.add import add
def show(event):
    if event.item is not None:
        print(event.item.outcome, flush=True)
try:
    add(Archive.open({str(archive)!r}), [{str(folder)!r}], embedder={SLOW!r}, workers={count},
        progress=show)
except KeyboardInterrupt:
    print("INTERRUPTED", flush=True)
"""
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(reeldb.__file__).parent.parent)},
        start_new_session=True,
    )


def test_workers_add_what_one_process_adds(archive: Archive, tmp_path: Path) -> None:
    folder = folder_of_clips(tmp_path, 4)
    (folder / "5.mp4").write_bytes(b"not a video")
    events: list[Event] = []
    report = add(archive, [folder], embedder=EMBEDDER, workers=2, progress=events.append)
    assert [i.outcome for i in report.items] == ["added"] * 4 + ["failed"]
    assert [Path(i.path).name for i in report.items] == [f"{i}.mp4" for i in (0, 1, 2, 3, 5)]
    assert sum(e.item is not None for e in events) == 5
    alone = Archive.open(tmp_path / "alone", create=True)
    add(alone, [folder], embedder=EMBEDDER)
    for relation in ("scenes", "frames", "embeddings"):
        assert archive.snapshot().relation(relation).equals(alone.snapshot().relation(relation))


@pytest.mark.parametrize("count", [1, 2])
def test_an_interrupt_keeps_whole_videos_and_the_next_run_goes_on(
    archive: Archive, tmp_path: Path, count: int
) -> None:
    folder = folder_of_clips(tmp_path, 4)
    with add_in_a_process(archive.path, folder, count) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "added\n"
        time.sleep(0.2)
        started = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout.read().endswith("INTERRUPTED\n")
    assert process.returncode == 0
    assert time.monotonic() - started < 5
    kept = names(archive)
    assert 1 <= len(kept) < 4
    snapshot = archive.snapshot()
    assert set(snapshot.relation("frames")["video"].to_pylist()) == set(kept)
    report = add(archive, [folder], embedder=SLOW)
    outcomes = [i.outcome for i in report.items]
    assert outcomes.count("known") == len(kept) and outcomes.count("added") == 4 - len(kept)


def test_a_process_that_dies_costs_only_its_file(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of_clips(tmp_path, 3)
    children: list[int] = []
    begin = workers._Child.__init__

    def remember(self: workers._Child, job: workers.Job) -> None:
        begin(self, job)
        children.append(self._process.pid)

    monkeypatch.setattr(workers._Child, "__init__", remember)

    def kill_the_first() -> None:
        while not children:
            time.sleep(0.01)
        os.kill(children[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_the_first)
    killer.start()
    report = add(archive, [folder], embedder="none", workers=2)
    killer.join()
    outcomes = sorted(i.outcome for i in report.items)
    assert outcomes == ["added", "added", "failed"]
    assert "was killed by SIGKILL" in report.failed[0].message
    assert [i.outcome for i in add(archive, [folder]).items].count("added") == 1


def test_an_archive_that_cannot_be_written_ends_the_batch(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of_clips(tmp_path, 2)
    (archive.path / "reel.toml").rename(archive.path / "gone.toml")
    job = workers.Job(str(archive.path), Settings(), "none", False)
    with pytest.raises(ArchiveError, match="not an archive"):
        list(workers.add_with_workers(job, sorted(folder.iterdir()), 2, lambda *_: None))


def test_a_worker_ends_when_nobody_asks_any_more(archive: Archive) -> None:
    job = workers.Job(str(archive.path), Settings(), "none", False)
    done = subprocess.run(
        [sys.executable, "-m", worker.__name__],
        input=job.to_json() + "\n" + json.dumps("/nowhere/at all.mp4") + "\n",
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(reeldb.__file__).parent.parent)},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    (answer,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert answer["item"]["outcome"] == "failed"
