from __future__ import annotations

from pathlib import Path

import pytest

from reeldb.index import tidy
from reeldb.index.archive import Archive
from reeldb.index.compact import compact, size
from reeldb.index.ledger import CaptionRow, Ledger
from reeldb.index.tidy import FILES
from tests.archives import make_archive, synthetic_video

ROWS = 300


def caption(n: int) -> CaptionRow:
    return CaptionRow(
        key=f"{n:032x}", content_id="content", kind="clip", start_s=0.0, end_s=1.0,
        times_ms=[500], text=f"In picture {n} a man walks along a street. " * 4,
        model="fake", prompt_id="scene", status="ok",
    )  # fmt: skip


def filled(place: Path, batch: int) -> Archive:
    archive = make_archive(place, [synthetic_video("a.mp4")])
    ledger = Ledger(archive)
    for n in range(0, ROWS, batch):
        ledger.put_captions([caption(k) for k in range(n, n + batch)])
    return archive


def test_rows_that_come_one_at_a_time_take_little_more_space_than_all_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidy, "AT_START_KEEP_S", 0.0)
    at_once = size(filled(tmp_path / "at once", ROWS))[0]
    archive = filled(tmp_path / "one at a time", 1)
    files = archive.store.fragments("captions", archive.store.version("captions"))
    assert len(files) <= FILES + 1
    # What is left are the few small files since the last merge, 4 kB each with its manifest.
    assert size(archive)[0] < at_once + 2 * FILES * 8192
    compact(archive, superseded_s=0)
    assert size(archive)[0] < 1.3 * at_once
    assert len(Ledger(archive).captions([caption(n).key for n in range(ROWS)])) == ROWS


def test_large_files_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidy, "LARGE_ROWS", 200)
    archive = make_archive(tmp_path, [synthetic_video("a.mp4")])
    ledger = Ledger(archive)
    ledger.put_captions([caption(n) for n in range(200)])
    version = archive.store.version("captions")
    (large,) = archive.store.fragments("captions", version)
    for n in range(200, 240):
        ledger.put_captions([caption(n)])
    after = archive.store.fragments("captions", archive.store.version("captions"))
    assert large in after and len(after) < 40


def test_what_another_process_adds_deletes_or_merges_is_noticed(tmp_path: Path) -> None:
    ledger = Ledger(make_archive(tmp_path, [synthetic_video("a.mp4")]))
    other = Ledger(Archive.open(tmp_path))  # an archive of its own shares no memory
    ledger.put_captions([caption(1), caption(2)])
    assert set(other.captions([caption(n).key for n in range(4)])) == {
        caption(1).key,
        caption(2).key,
    }
    other.put_captions([caption(3)])
    assert ledger.put_captions([caption(3)]) == 0
    with other.archive.lock():
        other.archive.store.delete("captions", f"key = '{caption(1).key}'")
    assert ledger.captions([caption(1).key]) == {}
    compact(other.archive, superseded_s=0)
    assert ledger.put_captions([caption(n) for n in (1, 2, 3)]) == 1
