from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from reeldb.index import compact as compact_module
from reeldb.index.archive import Archive
from reeldb.index.commit import Writer
from reeldb.index.compact import compact, size, tidy
from reeldb.index.ledger import CaptionRow, Ledger, LookRow
from reeldb.index.snapshot import Snapshot
from reeldb.index.verify import verify
from reeldb.schema.digests import digest
from reeldb.schema.models import Status
from reeldb.schema.relations import RELATIONS
from tests.archives import make_archive, synthetic_video


def rows(snapshot: Snapshot) -> dict[str, list[dict[str, object]]]:
    return {n: snapshot.relation(n).to_pylist() for n in RELATIONS}


@pytest.fixture
def used(tmp_path: Path) -> Archive:
    """An archive that was written to many times."""
    archive = make_archive(tmp_path / "a", [synthetic_video(f"{n}.mp4") for n in range(12)])
    with Writer(archive) as writer:
        writer.put(synthetic_video("3.mp4", scenes=[(0, 8)]), replace=True)
    Writer(archive).remove(digest("file", "/videos", "4.mp4"))
    content, ledger = digest("content", "1.mp4"), Ledger(archive)
    for n in range(5):
        ledger.put_captions(
            [CaptionRow(str(n), content, "frame", 0.0, 1.0, [0], "x", "m", "p", "ok")]
        )
    return archive


def test_it_changes_nothing_that_anybody_sees(used: Archive) -> None:
    before = rows(used.snapshot())
    done = compact(used, superseded_s=0)
    assert rows(used.snapshot()) == before and verify(used) == []
    assert done.files_after < done.files_before / 3
    assert done.bytes_after < done.bytes_before
    assert (done.bytes_after, done.files_after) == size(used)


def test_a_second_time_does_nothing(used: Archive) -> None:
    compact(used, superseded_s=0)
    versions = used.store.versions()
    again = compact(used, superseded_s=0)
    assert used.store.versions() == versions
    assert (again.rows_removed, again.files_after) == (0, again.files_before)


def test_readers_of_the_last_minute_keep_their_versions(used: Archive) -> None:
    old = used.snapshot()
    before = compact(used).files_before
    assert size(used)[1] >= before
    used.remember("frames", "forget", lambda: None)
    assert len(old.rows("frames")) >= 66
    assert len(Archive.open(used.path).store.read("videos", version=old.versions["videos"])) >= 11


def test_rows_of_killed_writers_go(used: Archive) -> None:
    used.store.append("scenes", [{"video_id": "x", "ingest_id": "killed", "scene_no": 0}])
    used.store.append("speech", [{"source_id": "x", "ingest_id": "killed", "line_no": 0}])
    assert {f.kind for f in verify(used)} == {"orphan rows"}
    assert compact(used, superseded_s=0).rows_removed == 2
    assert verify(used) == []


def test_failed_attempts_with_a_newer_row_and_unseen_finds_go(used: Archive) -> None:
    ledger = Ledger(used)

    def attempt(key: str, status: Status, day: int) -> CaptionRow:
        return CaptionRow(key, "c", "clip", 0.0, 1.0, [0], status, "m", "p", status,
                          created_at=datetime(2024, 1, day))  # fmt: skip

    ledger.put_captions([attempt("k", "failed", 1)])
    ledger.put_captions([attempt("k", "failed", 2)])
    ledger.put_captions([attempt("k", "ok", 3)])
    ledger.put_captions([attempt("f", "failed", 1)])
    ledger.put_captions([attempt("f", "failed", 2)])
    used.store.append("ocr", [{"key": "unseen", "content_id": "c", "line_no": 0}])
    seen = [{"key": "seen", "content_id": "c", "line_no": 0, "t_ms": 0, "text": "EXIT"}]
    ledger.put_looks([LookRow("seen", "c", "ocr", "m", 0, 0, "ok", 1)], {"ocr": seen})
    assert compact(used, superseded_s=0).rows_removed == 4
    assert ledger.captions(["k"])["k"].text == "ok"
    assert ledger.captions(["f"], failed=True)["f"].created_at == datetime(2024, 1, 2)
    assert used.store.read("ocr")["key"].to_pylist() == ["seen"]


def test_tidy_waits_until_files_have_piled_up(
    used: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compact_module, "keep_s", lambda table: 0.0)
    monkeypatch.setattr(compact_module, "TIDY_FILES", 10_000)
    assert tidy(used) is None
    monkeypatch.setattr(compact_module, "TIDY_FILES", 60)
    assert tidy(used) is not None
    versions = used.store.versions()
    assert tidy(used) is None and used.store.versions() == versions


def test_files_stay_few_over_many_small_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compact_module, "keep_s", lambda table: 0.0)
    archive = make_archive(tmp_path / "a", [synthetic_video("a.mp4")])
    ledger = Ledger(archive)
    for n in range(60):
        ledger.put_captions([CaptionRow(str(n), "c", "frame", 0.0, 1.0, [0], "x", "m", "p", "ok")])
        if n % 20 == 19:
            tidy(archive)
    assert archive.store.count("captions") == 60
    assert size(archive)[1] < 200


def test_files_of_an_emptied_space_and_old_matrices_go(used: Archive) -> None:
    (used.cache / "embeddings_gone_12345678-abc.npy").write_bytes(b"x")
    compact(used, superseded_s=0)
    assert not list(used.cache.glob("embeddings_gone*"))
