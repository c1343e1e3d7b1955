from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from reeldb.index.archive import Archive
from reeldb.index.commit import Vectors, Writer
from reeldb.index.verify import verify
from reeldb.schema.errors import ArchiveError
from tests.archives import make_archive, synthetic_video, unit
from tests.index.processes import finish, start

READ_ONLY = """
import os, sys
from reeldb.index.archive import Archive
from reeldb.index.commit import Writer
from reeldb.index.compact import compact
from reeldb.index.vectors import VectorSearch
from reeldb.index.verify import verify
from reeldb.schema.errors import ArchiveError
from tests.archives import synthetic_video, unit
warm = Archive.open(sys.argv[2])  # import whatever is imported late
verify(warm), VectorSearch(warm.snapshot(), "test").top(unit("x"), 1)
archive = Archive.open(sys.argv[1])
if os.geteuid() == 0:  # root may write anything: be somebody else from here on
    os.setuid(65534)
print(archive.read_only, len(archive.snapshot().relation("scenes")), verify(archive))
rows, scores = VectorSearch(archive.snapshot(), "test").top(unit("a.mp4", 1.0), 1)
print(rows.tolist(), round(float(scores[0]), 3))
def add():
    with Writer(archive) as writer:
        writer.put(synthetic_video("c.mp4"))
for change in (add, lambda: archive.set_model("ocr", "x"), lambda: compact(archive)):
    try:
        change()
        print("changed")
    except ArchiveError as e:
        print("cannot write here" in str(e), e)
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB; skips where none can be mounted."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as e:
        pytest.skip(f"no mount here: {e}")
    if mounted.returncode:
        pytest.skip(f"needs the right to mount: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_told_and_nothing_is_damaged(small_disk: Path) -> None:
    archive = make_archive(small_disk / "archive", [synthetic_video("a.mp4")])
    large = np.random.default_rng(0).standard_normal((400, 512)).astype(np.float32)
    with pytest.raises(ArchiveError, match="the disk is full") as caught:
        for n in range(100):
            with Writer(archive, spill_bytes=n % 2 << 20) as writer:
                video = synthetic_video(f"{n}.mp4", scenes=[(0, 399)])
                matrix = large / np.linalg.norm(large, axis=1, keepdims=True)
                assert video.vectors is not None
                video.vectors = Vectors("wide", video.vectors.times_s, matrix)
                writer.put(video)
    assert "\n" not in str(caught.value)
    reopened = Archive.open(archive.path)
    names = reopened.snapshot().relation("videos")["video"].to_pylist()
    assert "a.mp4" in names
    assert [f for f in verify(reopened) if not f.harmless] == []


def test_a_matrix_that_does_not_fit_on_the_disk_is_kept_in_memory(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reeldb.index.vectors import VectorSearch

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("reeldb.index.matrix._header", full)
    search = VectorSearch(archive.snapshot(), "test")
    rows, scores = search.top(unit("b.mp4", 2.0), 1)
    assert (rows.tolist(), scores.round(4).tolist()) == ([8], [1.0])
    assert search.matrix.path is None
    assert [p for p in archive.cache.iterdir() if p.name.startswith(".")] == []
    with pytest.raises(ArchiveError, match="no index can be built"):
        search.build_index()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can reach, which those of `tmp_path` are not."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_read_only_archive_is_read_and_not_written(archive: Archive, open_folder: Path) -> None:
    frozen = Path(copytree(archive.path, open_folder / "frozen"))
    names = {p.name for p in frozen.rglob("*")}
    for path in (frozen, *frozen.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    out = finish(start(READ_ONLY, frozen, archive.path)).splitlines()
    assert out[:2] == ["True 4 []", "[1] 1.0"]
    assert [line.split()[0] for line in out[2:]] == ["True"] * 3, out
    assert {p.name for p in frozen.rglob("*")} == names
    for path in (frozen, *(p for p in frozen.rglob("*") if p.is_dir())):
        path.chmod(0o755)
