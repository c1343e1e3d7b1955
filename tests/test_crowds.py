"""`reel add` killed, interrupted and run by many at once: nothing lost, nothing doubled."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import reeldb
from tests.clips import make_clip

COLOURS = ("red", "green", "blue", "white", "yellow", "cyan", "magenta", "gray")
EMBEDDER = "fake:embedder"
KILLS = 20

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("clips")
    for i, first in enumerate(COLOURS):
        second = COLOURS[(i + 1) % len(COLOURS)]
        make_clip(place / f"{first}.mp4", [(first, 2.0), (second, 1.5 + i / 10)])
    return place


@pytest.fixture(scope="module")
def undisturbed(clips: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    archive = tmp_path_factory.mktemp("undisturbed") / "archive"
    reeldb.open(archive).add(clips, embedder=EMBEDDER)
    return contents(archive)


def reel(*args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "reeldb", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def add(archive: Path, *paths: Path) -> subprocess.Popen[str]:
    names = [str(p) for p in paths]
    return reel("add", *names, "--archive", str(archive), "--embedder", EMBEDDER)


def contents(archive: Path) -> dict[str, object]:
    """Every row that people can see, but for what differs from one run to the next."""
    db = reeldb.open(archive)
    videos = "SELECT * EXCLUDE (ingest_id, added_at, aliases) FROM videos ORDER BY video"
    return {
        "videos": [tuple(map(str, row)) for row in db.sql(videos).fetchall()],
        "scenes": db.sql("SELECT * FROM scenes").fetchall(),
        "frames": db.sql("SELECT *, thumbnail FROM frames").fetchall(),
        "vectors": db.sql("SELECT *, vector FROM embeddings").fetchall(),
        "speech": db.sql("SELECT * FROM speech").fetchall(),
    }


def test_an_add_killed_twenty_times_ends_as_if_nothing_had_happened(
    clips: Path, undisturbed: dict[str, object], tmp_path: Path
) -> None:
    archive, dice, killed = tmp_path / "archive", random.Random(7), 0
    for _ in range(KILLS):
        process = add(archive, clips)
        time.sleep(dice.uniform(0.2, 3.0))
        killed += process.poll() is None
        process.kill()
        process.communicate()
    assert killed > 0
    process = add(archive, clips)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert contents(archive) == undisturbed
    db = reeldb.open(archive)
    db.compact()
    assert db.verify() == []
    assert contents(archive) == undisturbed


def test_ctrl_c_leaves_a_usable_archive_and_says_how_to_go_on(
    clips: Path, undisturbed: dict[str, object], tmp_path: Path
) -> None:
    archive = tmp_path / "archive"
    process = add(archive, clips)
    assert process.stderr is not None
    first = process.stderr.readline()
    assert "added" in first
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - started < 30
    assert "same command" in err
    assert "Traceback" not in err
    kept = len(reeldb.open(archive).sql("SELECT video FROM videos"))
    assert 1 <= kept <= len(COLOURS)
    process = add(archive, clips)
    _, err = process.communicate(timeout=300)
    assert f"{kept} known" in err
    assert contents(archive) == undisturbed


def test_ten_at_once_lose_and_double_nothing_and_readers_see_whole_videos(
    clips: Path, undisturbed: dict[str, object], tmp_path: Path
) -> None:
    archive = tmp_path / "archive"
    same = clips / "red.mp4"
    crowd = [add(archive, clips / f"{c}.mp4") for c in COLOURS]
    crowd += [add(archive, same), add(archive, same)]
    seen = 0
    while any(p.poll() is None for p in crowd):
        if (archive / "reel.toml").exists():
            seen = max(seen, whole_videos(archive))
        time.sleep(0.1)
    for process in crowd:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    assert whole_videos(archive) == len(COLOURS)
    assert contents(archive) == undisturbed


def whole_videos(archive: Path) -> int:
    """How many videos a reader sees; fails where one lacks scenes, pictures or vectors."""
    rows = reeldb.open(archive).sql(
        "SELECT v.video, v.scene_count, "
        "(SELECT count(*) FROM scenes s WHERE s.video_id = v.video_id), "
        "(SELECT count(*) FROM frames f WHERE f.video_id = v.video_id), "
        "(SELECT count(*) FROM embeddings e WHERE e.video_id = v.video_id) FROM videos v"
    )
    for video, expected, scenes, frames, vectors in rows:
        assert scenes == expected, video
        assert frames == vectors > 0, video
    return len(rows)
