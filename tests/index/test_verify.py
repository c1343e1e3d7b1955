from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import lance
import pyarrow as pa
import pytest

from reeldb.index.archive import Archive
from reeldb.index.checks import CHECKS
from reeldb.index.commit import Writer
from reeldb.index.ledger import CaptionRow, Ledger, LookRow
from reeldb.index.verify import Fault, verify
from reeldb.schema.digests import digest
from tests.archives import synthetic_video

A = digest("file", "/videos", "a.mp4")
EMBEDDINGS = "embeddings_test_fb913cd1"
Row = dict[str, Any]


def edit(archive: Archive, table: str, change: Callable[[Row], Row | None]) -> None:
    """Rewrite a table's rows; None leaves one out."""
    rows = [change(row) for row in archive.store.read(table).to_pylist()]
    archive.store.delete(table, "true")
    archive.store.append(table, [row for row in rows if row is not None])


def of_a(row: Row) -> bool:
    return bool(row["video_id"] == A)


def drop_scene(a: Archive) -> None:
    edit(a, "scenes", lambda r: None if of_a(r) and r["scene_no"] == 1 else r)


def shift_scene(a: Archive) -> None:
    edit(a, "scenes", lambda r: {**r, "start_s": 2.5} if of_a(r) and r["scene_no"] else r)


def shorten_video(a: Archive) -> None:
    edit(a, "videos", lambda r: {**r, "duration_s": 4.5} if of_a(r) else r)


def move_frame(a: Archive) -> None:
    edit(a, "frames", lambda r: {**r, "t_s": 99.0} if of_a(r) and r["t_s"] == 0 else r)


def wrong_scene(a: Archive) -> None:
    edit(a, "frames", lambda r: {**r, "scene_no": 1} if of_a(r) and r["t_s"] == 0 else r)


def move_key(a: Archive) -> None:
    edit(a, "scenes", lambda r: {**r, "key_s": 1.25} if of_a(r) and r["scene_no"] == 0 else r)


def drop_vector(a: Archive) -> None:
    edit(a, EMBEDDINGS, lambda r: None if of_a(r) and r["t_s"] == 1 else r)


def drop_frame(a: Archive) -> None:
    edit(a, "frames", lambda r: None if of_a(r) and r["t_s"] == 0 else r)


def spoil_vector(a: Archive) -> None:
    nan = [float("nan")] * 8
    edit(a, EMBEDDINGS, lambda r: {**r, "vector": nan} if of_a(r) and r["t_s"] == 1 else r)


def lengthen_vector(a: Archive) -> None:
    edit(a, EMBEDDINGS, lambda r: {**r, "vector": [x * 2 for x in r["vector"]]})


def drop_thumbnail(a: Archive) -> None:
    edit(a, "frames", lambda r: {**r, "thumbnail": b""} if of_a(r) and r["t_s"] == 1 else r)


def spoil_thumbnail(a: Archive) -> None:
    edit(a, "frames", lambda r: {**r, "thumbnail": b"GIF"} if of_a(r) else r)


def miscount(a: Archive) -> None:
    edit(a, "videos", lambda r: {**r, "scene_count": 3} if of_a(r) else r)


def dangle(a: Archive) -> None:
    edit(a, "videos", lambda r: {**r, "ingest_id": "nowhere"} if of_a(r) else r)


def double_video(a: Archive) -> None:
    a.store.append("videos", a.store.read("videos", where=f"video_id = '{A}'"))


def double_scene(a: Archive) -> None:
    a.store.append("scenes", a.store.read("scenes", where="scene_no = 0"))


def double_frame(a: Archive) -> None:
    a.store.append("frames", a.store.read("frames", where="t_s = 0"))


def leave_rows(a: Archive) -> None:
    a.store.append("scenes", [{"video_id": A, "ingest_id": "killed", "scene_no": 0}])


def caption(key: str, **change: Any) -> Row:
    base = {"key": key, "content_id": "c", "kind": "clip", "start_s": 0.0, "end_s": 1.0,
            "times_ms": [0], "text": "a cat", "model": "m", "prompt_id": "scene", "status": "ok",
            "created_at": datetime(2024, 1, 1)}  # fmt: skip
    return {**base, **change}


def double_caption(a: Archive) -> None:
    a.store.append("captions", [caption("k"), caption("k")])


def empty_caption(a: Archive) -> None:
    a.store.append("captions", [caption("k", text=" ")])


def odd_status(a: Archive) -> None:
    a.store.append("captions", [caption("k", status="error: timeout")])


def unseen_text(a: Archive) -> None:
    a.store.append("ocr", [{"key": "k", "content_id": "c", "line_no": 0, "text": "EXIT"}])


def miscounted_look(a: Archive) -> None:
    Ledger(a).put_looks([LookRow("k", "c", "ocr", "m", 0, 0, "ok", 2)], {})


def lose_entity(a: Archive) -> None:
    a.store.append("entity_mentions", [{"entity_id": "e", "version": "1", "video_id": A}])


FAULTS: list[tuple[Callable[[Archive], None], str, str]] = [
    (drop_scene, "scenes do not tile", "a.mp4: 1 scenes do not start where the one before ends"),
    (drop_scene, "wrong counts", "a.mp4: `videos` counts 2 scenes, there are 1"),
    (shift_scene, "scenes do not tile", "such as number 1"),
    (shorten_video, "scenes do not tile", "such as number 1"),
    (move_frame, "frames outside", "a.mp4: 1 pictures lie outside .* at 99.0 s"),
    (wrong_scene, "frames outside", "at 0.0 s"),
    (move_key, "key picture missing", "a.mp4: 1 scenes have a key picture .* number 0"),
    (drop_vector, "vectors missing", "a.mp4: 1 pictures have no vector, such as the one at 1.0 s"),
    (drop_frame, "vectors without a picture", "a.mp4: 1 vectors belong to no picture"),
    (spoil_vector, "NaN vectors", "a.mp4: 1 vectors are not of length 1, or hold NaN"),
    (lengthen_vector, "NaN vectors", "a.mp4: 6 vectors"),
    (drop_thumbnail, "thumbnails missing", "a.mp4: 1 pictures have no thumbnail, .* at 1.0 s"),
    (spoil_thumbnail, "thumbnails missing", "a.mp4: 6 pictures"),
    (miscount, "wrong counts", "a.mp4: `videos` counts 3 scenes, there are 2"),
    (dangle, "dangling ingest", "a.mp4: `videos` names an ingest that has no rows: nowhere"),
    (double_video, "duplicate ids", f"a.mp4: 2 rows of `videos` have the id {A}"),
    (double_scene, "duplicate rows", "a.mp4: 1 scene numbers appear twice, such as 0"),
    (double_frame, "duplicate rows", "a.mp4: 1 pictures appear twice, such as the one at 0.0 s"),
    (leave_rows, "orphan rows", "scenes: 1 rows belong to no video, .* such as killed"),
    (double_caption, "duplicate keys", "captions: 1 addresses are kept twice, such as k"),
    (empty_caption, "empty captions", "captions: 1 captions have the status ok and no text"),
    (odd_status, "bad status", "captions: 1 rows have a status that is none, .* error: timeout"),
    (unseen_text, "found without a look", "ocr: 1 rows come from looks that are not on record"),
    (miscounted_look, "wrong counts", "tool_runs: 1 looks found another number of things"),
    (lose_entity, "unknown entity", "entity_mentions: 1 mentions name an entity .* such as e"),
]


def test_a_sound_archive_has_no_faults(archive: Archive) -> None:
    content = digest("content", "a.mp4")
    ledger = Ledger(archive)
    ledger.put_captions(
        [CaptionRow("k", content, "clip", 0.0, 2.0, [0], "a cat", "m", "scene", "ok"),
         CaptionRow("e", content, "clip", 0.0, 2.0, [0], None, "m", "scene", "empty")]
    )  # fmt: skip
    found = [{"key": "o", "content_id": content, "line_no": 0, "t_ms": 0, "text": "EXIT"}]
    ledger.put_looks([LookRow("o", content, "ocr", "m", 0, 0, "ok", 1),
                      LookRow("n", content, "ocr", "m", 1000, 1000, "empty"),
                      LookRow("s", content, "ocr", "m", 2000, 2000, "ok", 1, same_as_ms=0)],
                     {"ocr": found})  # fmt: skip
    with Writer(archive) as writer:
        writer.put(synthetic_video("bare.mp4", space=None))
    with Writer(archive) as writer:
        writer.put(synthetic_video("nothing shown.mp4", scenes=[]))
    assert verify(archive) == []


@pytest.mark.parametrize(("plant", "kind", "text"), FAULTS)
def test_a_planted_fault_is_found_and_told(
    archive: Archive, plant: Callable[[Archive], None], kind: str, text: str
) -> None:
    plant(archive)
    faults = [f for f in verify(archive) if f.kind == kind]
    assert any(re.search(text, str(f)) for f in faults), [str(f) for f in faults]
    assert all(f.cure and "\n" not in str(f) for f in faults)


def test_every_kind_of_check_has_a_planted_fault() -> None:
    assert {c.kind for c in CHECKS} == {kind for _, kind, _ in FAULTS}


def kinds(archive: Archive) -> list[tuple[str, str]]:
    return [(f.kind, f.where) for f in verify(Archive.open(archive.path))]


def test_a_missing_table_a_lost_file_and_drift_are_faults(archive: Archive) -> None:
    (archive.path / "ocr.lance").rename(archive.path / "ocr.gone")
    lance.write_dataset(pa.table({"key": ["k"]}), str(archive.path / "objects.lance"),
                        mode="overwrite")  # fmt: skip
    assert kinds(archive) == [("schema drift", "objects"), ("missing table", "ocr")]


def test_a_lost_data_file_is_a_fault(archive: Archive) -> None:
    for file in (archive.path / "frames.lance" / "data").iterdir():
        file.unlink()
    assert kinds(archive) == [("unreadable", "archive")]


def test_a_broken_toml_is_a_fault(archive: Archive) -> None:
    (archive.path / "reel.toml").write_text("format = ")
    assert [f.kind for f in verify(archive)] == ["broken reel.toml"]


def test_rows_of_a_living_writer_are_no_fault(archive: Archive) -> None:
    with Writer(archive, spill_bytes=0) as writer:
        writer.stage("scenes", synthetic_video("c.mp4").scenes)
        assert verify(archive) == []


def test_a_fault_prints_as_where_what_and_cure() -> None:
    fault = Fault("orphan rows", "scenes", "3 rows", 3, "`reel compact` removes them")
    assert str(fault) == "scenes: 3 rows (orphan rows); `reel compact` removes them"
