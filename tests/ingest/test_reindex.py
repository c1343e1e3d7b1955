from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import reeldb
from reeldb.cli import main
from reeldb.database import Database
from reeldb.index.archive import Archive
from reeldb.ingest.add import add
from reeldb.ingest.reindex import reindex
from reeldb.media.decode import Decoding
from reeldb.models.registry import Models, load
from reeldb.schema.errors import ModelError
from reeldb.schema.models import Embedder
from reeldb.schema.settings import Settings
from tests.clips import make_clip

OLD, NEW = "fake:embedder?dim=16", "fake:embedder?dim=24"
BEST = "SELECT video FROM scenes ORDER BY similarity(image, 'blue') DESC LIMIT 1"


@pytest.fixture
def db(tmp_path: Path) -> Database:
    (tmp_path / "v").mkdir()
    make_clip(tmp_path / "v" / "warm.mp4", [("red", 2), ("yellow", 2.5)])
    make_clip(tmp_path / "v" / "cold.mp4", [("blue", 1.7), ("green", 2)])
    made = reeldb.open(tmp_path / "archive")
    report = made.add(tmp_path / "v", embedder=OLD)
    assert [i.outcome for i in report.items] == ["added", "added"]
    return made


def vectors(archive: Archive, space: str) -> dict[tuple[str, float], list[float]]:
    snapshot = archive.snapshot()
    rows = snapshot.relation("embeddings").to_pylist()
    found = snapshot.heavy("embeddings", "vector").to_pylist()
    return {
        (r["video"], r["t_s"]): v for r, v in zip(rows, found, strict=True) if r["space"] == space
    }


def space(address: str) -> str:
    model = load(address, "embedder")
    assert isinstance(model, Embedder)
    return model.space


@pytest.mark.parametrize("scan", ["full", "keyframes"])
def test_the_vectors_are_those_that_add_would_have_made(tmp_path: Path, scan: str) -> None:
    clip = make_clip(tmp_path / "a.mp4", [("red", 1.3), ("blue", 2.9), ("lime", 0.7)], gop=10)
    archives = []
    for name, address in (("one", OLD), ("two", NEW)):
        archives.append(Archive.open(tmp_path / name, create=True))
        add(archives[-1], [clip], Settings(scan=scan), embedder=address)
    before = vectors(archives[0], space(OLD))
    report = reindex(archives[0], NEW)
    assert [i.outcome for i in report.items] == ["embedded"]
    assert vectors(archives[0], space(NEW)) == vectors(archives[1], space(NEW))
    assert vectors(archives[0], space(OLD)) == before
    assert len(before) == len(archives[0].snapshot().relation("frames")) > 3


def test_captions_stay_and_none_is_made(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    db.set_model("captioner", "fake:captioner")
    said = db.sql("SELECT video, caption FROM scenes ORDER BY ALL").fetchall()
    captions = db.archive.store.version("captions")
    db.reindex(NEW)
    assert db.archive.store.version("captions") == captions
    again = db.sql("SELECT video, caption FROM scenes ORDER BY ALL")
    assert again.fetchall() == said and again.stats["calls"] == 0


def test_both_spaces_can_be_asked_and_the_new_one_is_the_default(db: Database) -> None:
    db.reindex(NEW)
    assert db.models.address("embedder") == NEW
    assert db.sql(BEST).fetchall() == [("cold.mp4",)]
    cosines = "SELECT round(similarity(image, 'a blue bus'), 6) FROM scenes ORDER BY ALL"
    default = db.sql(cosines).fetchall()
    answers = {}
    for name in (OLD, NEW, space(OLD), space(NEW)):
        db.sql(f"SET embedder = '{name}'")
        assert db.sql(BEST).fetchall() == [("cold.mp4",)]
        answers[name] = db.sql(cosines).fetchall()
    assert answers[NEW] == answers[space(NEW)] == default
    assert answers[OLD] == answers[space(OLD)] != default


def test_a_space_that_is_not_there_is_named_with_the_cure(db: Database) -> None:
    db.sql(f"SET embedder = '{NEW}'")
    with pytest.raises(reeldb.ReelError, match=r"no vectors of it.*reel reindex --embedder fake"):
        db.sql(BEST)
    db.sql(f"SET embedder = '{OLD}'")
    assert db.sql(BEST).fetchall() == [("cold.mp4",)]


def test_each_video_is_decoded_at_most_once(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reeldb.ingest import reindex as module

    opened = []

    class Counted(Decoding):
        def __init__(self, path: Path, **more: bool) -> None:
            opened.append(path.name)
            super().__init__(path, **more)

    monkeypatch.setattr(module, "Decoding", Counted)
    # the same pictures in another container: copied by add, and not decoded by reindex either
    copy = tmp_path / "v" / "copy.mp4"
    copy.write_bytes((tmp_path / "v" / "cold.mp4").read_bytes() + b"\0\0\0\x08free")
    assert [i.outcome for i in db.add(copy).items] == ["copied"]
    outcomes = {Path(i.path).name: i.outcome for i in db.reindex(NEW).items}
    assert sorted(opened) == ["cold.mp4", "warm.mp4"]
    assert sorted(outcomes.values()) == ["copied", "embedded", "embedded"]
    assert [i.outcome for i in db.reindex(NEW).items] == ["known"] * 3
    assert len(opened) == 2


def test_a_crash_keeps_what_is_done_and_the_default(db: Database) -> None:
    class Breaks:
        """The new embedder, which fails at its second batch."""

        def __init__(self) -> None:
            self._own = load(NEW, "embedder")
            self.calls = 0

        def __getattr__(self, name: str) -> object:
            return getattr(self._own, name)

        def embed_images(self, images: list[np.ndarray]) -> np.ndarray:
            self.calls += 1
            if self.calls > 1:
                raise ModelError("the server is gone")
            found: np.ndarray = self._own.embed_images(images)  # type: ignore[attr-defined]
            return found

        def embed_texts(self, texts: list[str]) -> np.ndarray:
            raise NotImplementedError

    with pytest.raises(ModelError, match="the server is gone"):
        reindex(db.archive, Breaks())  # type: ignore[arg-type]
    assert db.models.address("embedder") == OLD
    assert {v for v, _ in vectors(db.archive, space(NEW))} == {"cold.mp4"}
    assert [i.outcome for i in db.reindex(NEW).items] == ["known", "embedded"]
    assert db.models.address("embedder") == NEW


def test_killed_halfway_it_goes_on(db: Database) -> None:
    slow = "fake:embedder?dim=24&seconds=0.15&batch=1"
    code = (
        f"import reeldb; reeldb.open({str(db.path)!r}).reindex({slow!r}, "
        "progress=lambda e: e.item and print(e.item.outcome, flush=True))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "embedded\n"
        os.kill(process.pid, signal.SIGKILL)
    assert [i.outcome for i in db.reindex(NEW).items] == ["known", "embedded"]
    assert not [f for f in db.verify() if not f.harmless]


def test_a_video_whose_file_is_gone_is_named_and_the_default_stays(
    db: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "v" / "warm.mp4").unlink()
    assert main(["reindex", "--archive", str(db.path), "--embedder", NEW]) == 1
    told = capsys.readouterr().err
    assert "warm.mp4" in told and "its file is gone or changed" in told
    assert f"the embedder stays {OLD}" in told and "reel models set embedder" in told
    assert reeldb.open(db.path).models.address("embedder") == OLD


def test_a_file_that_changed_is_not_taken_for_the_video(db: Database, tmp_path: Path) -> None:
    make_clip(tmp_path / "v" / "warm.mp4", [("blue", 3)])
    assert [i.outcome for i in db.reindex(NEW).items] == ["embedded", "failed"]


def test_the_command_says_which_embedder_it_is_now(
    db: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reindex", "--archive", str(db.path), "--embedder", NEW]) == 0
    told = capsys.readouterr().err
    assert "2 files: 2 embedded" in told
    assert f"the embedder is now {NEW}" in told and f"SET embedder = '{OLD}'" in told


def test_videos_are_added_with_the_new_embedder_afterwards(db: Database, tmp_path: Path) -> None:
    db.reindex(NEW)
    db.add(make_clip(tmp_path / "late.mp4", [("cyan", 2)]))
    assert {v for v, _ in vectors(db.archive, space(NEW))} == {"cold.mp4", "late.mp4", "warm.mp4"}
    assert {v for v, _ in vectors(db.archive, space(OLD))} == {"cold.mp4", "warm.mp4"}


def test_an_archive_without_vectors_can_be_given_some(tmp_path: Path) -> None:
    db = reeldb.open(tmp_path / "a")
    db.add(make_clip(tmp_path / "x.mp4", [("blue", 2)]), embedder="none")
    db.reindex(NEW)
    assert db.sql(BEST).fetchall() == [("x.mp4",)]
    with pytest.raises(ModelError, match="makes no vectors"):
        db.reindex("none")
    assert Models(db.archive.models).address("embedder") == NEW
