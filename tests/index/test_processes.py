from __future__ import annotations

import random
import signal
import threading
import time
from pathlib import Path

import pytest

from reeldb.index.archive import Archive
from reeldb.index.commit import Writer
from reeldb.index.compact import compact
from reeldb.index.snapshot import Snapshot
from reeldb.index.verify import verify
from tests.archives import make_archive, synthetic_video
from tests.index.processes import finish, start

ADD = """
import sys
from reeldb.index.archive import Archive
from reeldb.index.commit import Writer
from reeldb.index.ledger import CaptionRow, Ledger
from tests.archives import synthetic_video
archive = Archive.open(sys.argv[1], create=True)
print("ready", flush=True)
sys.stdin.readline()
for name in sys.argv[2:]:
    with Writer(archive, spill_bytes=0) as writer:
        ingest = synthetic_video(name, subtitles=[(0, 1, name)])
        print(name, writer.put(ingest).ours, flush=True)
    content = ingest.video["content_id"]
    Ledger(archive).put_captions([CaptionRow("shared", content, "clip", 0, 2, [0], name, "fake",
        "scene", "ok"), CaptionRow(name, content, "clip", 0, 2, [0], name, "fake", "scene", "ok")])
"""

ADD_FOREVER = """
import sys, itertools
from reeldb.index.archive import Archive
from reeldb.index.commit import Writer
from tests.archives import synthetic_video
archive = Archive.open(sys.argv[1])
print("ready", flush=True)
for n in itertools.count():
    with Writer(archive, spill_bytes=0) as writer:
        writer.put(synthetic_video(f"{sys.argv[2]}-{n}.mp4", subtitles=[(0, 1, "x")]))
"""


def whole(snapshot: Snapshot) -> int:
    """How many videos a reader sees; fails unless every one of them is complete."""
    names = snapshot.relation("videos")["video"].to_pylist()
    for relation, each in (("scenes", 2), ("frames", 6), ("embeddings", 6), ("speech", 1)):
        seen = snapshot.relation(relation)["video"].to_pylist()
        assert sorted(seen) == sorted(n for n in names for _ in range(each)), relation
    return len(names)


@pytest.mark.parametrize("different", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_a_crowd_adding_the_same_and_different_videos_loses_and_doubles_nothing(
    tmp_path: Path, different: int
) -> None:
    path = tmp_path / "archive"  # the processes create it together as well
    crowd = [start(ADD, path, f"{n}.mp4", f"{n}+.mp4") for n in range(different)]
    crowd += [start(ADD, path, "same.mp4") for _ in range(2)]
    for process in crowd:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in crowd:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    archive, seen = Archive.open(path), [0]
    while any(process.poll() is None for process in crowd):
        seen.append(archive.read(whole))
    outputs = [finish(process) for process in crowd]
    assert archive.read(whole) == 2 * different + 1
    assert seen == sorted(seen)
    assert sum(out.count("same.mp4 True") for out in outputs) == 1
    assert sum(out.count(" True") for out in outputs) == 2 * different + 1
    keys = archive.store.read("captions")["key"].to_pylist()
    assert sorted(keys) == sorted({*keys}) and len(keys) == 2 * different + 2
    assert verify(archive) == []


def test_a_writer_killed_at_random_leaves_whole_videos_and_its_rows_go_at_compaction(
    tmp_path: Path,
) -> None:
    archive = make_archive(tmp_path / "archive")
    for n in range(3):
        writer = start(ADD_FOREVER, archive.path, n)
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
        time.sleep(random.uniform(0.05, 0.4))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        assert archive.read(whole) >= 0
        assert [f for f in verify(archive) if not f.harmless] == []
    with Writer(archive, spill_bytes=0) as alive:
        alive.stage("scenes", synthetic_video("alive.mp4").scenes)
        compact(archive, superseded_s=0)
        assert [f for f in verify(archive) if f.kind == "orphan rows"] == []
        video = synthetic_video("alive.mp4")
        alive.stage("frames", video.frames)
        alive.publish({**video.video, "embedder": None})
    assert verify(archive) == []
    count = len(archive.snapshot().videos)
    assert archive.store.count("scenes") == 2 * count


def test_readers_go_on_while_others_write_and_compact(tmp_path: Path) -> None:
    archive = make_archive(
        tmp_path / "archive", [synthetic_video(f"{n}", subtitles=[(0, 1, "x")]) for n in range(4)]
    )
    writer = start(ADD_FOREVER, archive.path, "w")
    assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    errors: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        mine = Archive.open(archive.path)
        try:
            while not done.is_set():
                mine.read(whole)
        except BaseException as e:
            errors.append(e)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(3):
        compact(archive, superseded_s=1.0)
        time.sleep(0.3)
    done.set()
    for reader in readers:
        reader.join()
    writer.kill()
    writer.communicate()
    assert errors == []
    assert archive.read(whole) > 4
