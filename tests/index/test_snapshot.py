from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from reeldb.index.archive import Archive
from reeldb.index.commit import Writer
from reeldb.index.ledger import CaptionRow, Ledger, LookRow
from reeldb.index.session import Session
from reeldb.schema.digests import digest
from reeldb.schema.errors import ArchiveError, BindError, VersionGone
from reeldb.schema.relations import RELATIONS
from tests.archives import THUMBNAIL, make_archive, synthetic_video, unit

DUCKDB = {
    "string": "VARCHAR",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "double": "DOUBLE",
    "bool": "BOOLEAN",
    "timestamp[us]": "TIMESTAMP",
    "list<item: string>": "VARCHAR[]",
    "list<item: int64>": "BIGINT[]",
}


@pytest.mark.parametrize("name", RELATIONS)
def test_every_relation_has_its_stored_columns_in_order_and_type(
    archive: Archive, name: str
) -> None:
    relation = RELATIONS[name]
    table = archive.snapshot().relation(name)
    assert table.column_names == relation.names("stored")
    for field in table.schema:
        wanted = relation.by_name[field.name].type
        if not wanted.startswith("STRUCT"):
            assert DUCKDB[str(field.type)] == wanted, field.name
    with Session() as session:
        session.register("r", table)
        assert session.run("SELECT count(*) FROM r").column(0)[0].as_py() == len(table)


def test_rows_come_in_key_order_whatever_order_they_were_written_in(tmp_path: Path) -> None:
    names = ["b.mp4", "ä.mp4", "B.mp4", "a.mp4"]
    archive = make_archive(tmp_path / "a", [synthetic_video(n) for n in names])
    with Writer(archive) as writer:
        video = synthetic_video("A.mp4")
        writer.stage("scenes", pa.table(video.scenes).take(pa.array([1, 0])))
        writer.stage("frames", pa.table(video.frames).take(pa.array([3, 1, 2, 0, 5, 4])))
        writer.publish(video.video)
    scenes = archive.snapshot().relation("scenes")
    ordered = ["A.mp4", "B.mp4", "a.mp4", "b.mp4", "ä.mp4"]
    assert scenes["video"].to_pylist() == [n for n in ordered for _ in range(2)]
    assert scenes["scene_no"].to_pylist() == [0, 1] * 5
    assert archive.snapshot().relation("frames")["t_s"].to_pylist()[:6] == [0, 1, 2, 3, 3.5, 4]
    assert archive.snapshot().ranks("scenes").tolist() == [n for n in range(5) for _ in range(2)]


def test_a_snapshot_stays_at_its_moment(archive: Archive) -> None:
    old = archive.snapshot()
    with Writer(archive) as writer:
        writer.put(synthetic_video("c.mp4"))
    Writer(archive).remove(digest("file", "/videos", "a.mp4"))
    assert old.relation("scenes")["video"].unique().to_pylist() == ["a.mp4", "b.mp4"]
    assert set(old.heavy("frames", "thumbnail").to_pylist()) == {THUMBNAIL}
    assert archive.snapshot().relation("scenes")["video"].unique().to_pylist() == [
        "b.mp4", "c.mp4"
    ]  # fmt: skip


def test_relations_are_kept_until_their_tables_change(archive: Archive) -> None:
    scenes = archive.snapshot().relation("scenes")
    Ledger(archive).put_captions([_caption("k", "a.mp4")])
    assert archive.snapshot().relation("scenes") is scenes
    assert len(archive.snapshot().relation("captions")) == 1
    with Writer(archive) as writer:
        writer.put(synthetic_video("c.mp4"))
    assert len(archive.snapshot().relation("scenes")) == 6


def test_heavy_columns_are_aligned_to_the_rows_asked_for(archive: Archive) -> None:
    with Writer(archive) as writer:
        writer.put(synthetic_video("0.mp4", space="other", scenes=[(0, 3)]))
    snapshot = archive.snapshot()
    embeddings = snapshot.relation("embeddings").to_pylist()
    vectors = snapshot.heavy("embeddings", "vector").to_pylist()
    for row, vector in zip(embeddings, vectors, strict=True):
        assert vector == unit(row["video"], row["t_s"]).astype(np.float16).tolist()
    some = np.array([9, 0, 9])
    assert snapshot.heavy("embeddings", "vector", some).to_pylist() == [vectors[i] for i in some]
    assert len(snapshot.heavy("frames", "thumbnail", np.array([3, 1]))) == 2
    assert len(snapshot.heavy("frames", "thumbnail", np.array([], np.int64))) == 0
    with pytest.raises(BindError, match="frames has no heavy column 't_s'"):
        snapshot.heavy("frames", "t_s")


def test_a_video_is_found_by_name_or_id(archive: Archive) -> None:
    snapshot, a = archive.snapshot(), digest("file", "/videos", "a.mp4")
    assert snapshot.find_video("a.mp4") == snapshot.find_video(a) == a
    with pytest.raises(BindError, match=r"no video 'a\.mp3': did you mean a\.mp4, b\.mp4\?"):
        snapshot.find_video("a.mp3")


def test_an_ambiguous_name_lists_the_candidates(archive: Archive) -> None:
    with Writer(archive) as writer:
        writer.put(synthetic_video("a.mp4", folder="/other"))
    with pytest.raises(BindError, match=r"2 videos are called 'a\.mp4'.*\(/other/a\.mp4\)"):
        archive.snapshot().find_video("a.mp4")


def test_an_empty_archive_has_empty_relations(tmp_path: Path) -> None:
    snapshot = make_archive(tmp_path / "a").snapshot()
    assert [len(snapshot.relation(n)) for n in RELATIONS] == [0] * len(RELATIONS)
    assert snapshot.spaces() == {}
    assert len(snapshot.heavy("embeddings", "vector")) == 0
    with pytest.raises(BindError, match="the archive is empty"):
        snapshot.find_video("a.mp4")


@pytest.mark.parametrize(
    "name", ["it's; DROP TABLE scenes--", "../../x", "a\nb.mp4", '"', "\x1b[31m", "ｆｕｌｌ", ""]
)
def test_any_video_name_is_literal(tmp_path: Path, name: str) -> None:
    snapshot = make_archive(tmp_path / "a", [synthetic_video(name)]).snapshot()
    assert snapshot.relation("scenes")["video"].to_pylist() == [name, name]
    assert snapshot.find_video(name) == digest("file", "/videos", name)


def _caption(key: str, content: str, status: str = "ok", day: int = 1) -> CaptionRow:
    return CaptionRow(
        key, digest("content", content), "clip", 0.0, 2.0, [0, 1000], f"text of {day}", "fake",
        "scene", status, created_at=datetime(2024, 1, day),  # type: ignore[arg-type]
    )  # fmt: skip


def test_a_caption_appears_under_every_copy_of_its_content(tmp_path: Path) -> None:
    videos = [synthetic_video("a.mp4"), synthetic_video("z.mp4"),
              synthetic_video("copy.mkv", shares="a.mp4")]  # fmt: skip
    archive = make_archive(tmp_path / "a", videos)
    Ledger(archive).put_captions([_caption("k", "a.mp4"), _caption("lost", "removed.mp4")])
    rows = archive.snapshot().relation("captions").to_pylist()
    assert [(r["video"], r["key"]) for r in rows] == [("a.mp4", "k"), ("copy.mkv", "k")]


def test_of_two_rows_of_a_key_the_one_that_did_not_fail_counts_then_the_newest(
    archive: Archive,
) -> None:
    rows = [_caption("k", "a.mp4", "ok", 1), _caption("k", "a.mp4", "ok", 2),
            _caption("k", "a.mp4", "failed", 3), _caption("f", "a.mp4", "failed", 4)]  # fmt: skip
    ledger = Ledger(archive)
    for row in rows:
        ledger._append("captions", [row])
    seen = archive.snapshot().relation("captions").to_pylist()
    assert [(r["key"], r["text"]) for r in seen] == [("f", "text of 4"), ("k", "text of 2")]


def test_what_a_tool_found_counts_once_its_look_is_on_record(archive: Archive) -> None:
    content, ledger = digest("content", "a.mp4"), Ledger(archive)

    def lines(key: str, *texts: str) -> list[dict[str, object]]:
        return [{"key": key, "content_id": content, "line_no": n, "t_ms": 333, "text": t}
                for n, t in enumerate(texts)]  # fmt: skip

    archive.store.append("ocr", lines("k", "half", "written", "by a killed process"))
    assert len(archive.snapshot().relation("ocr")) == 0
    look = LookRow("k", content, "ocr", "fake", 333, 333, "ok", 2)
    ledger.put_looks([look], {"ocr": lines("k", "EXIT", "STOP")})
    ledger.put_looks([look], {"ocr": lines("k", "again")})
    archive.store.append("ocr", lines("k", "EXIT", "STOP"))
    rows = archive.snapshot().relation("ocr").to_pylist()
    assert [(r["t_s"], r["line_no"], r["text"]) for r in rows] == [
        (0.333, 0, "EXIT"), (0.333, 1, "STOP")
    ]  # fmt: skip


def test_speech_joins_by_sound_and_subtitles_by_file(tmp_path: Path) -> None:
    a = synthetic_video("a.mp4", subtitles=[(3, 4, "subtitle")])
    silent = synthetic_video("silent.mp4", sound_id=None)
    copy = synthetic_video("copy.mkv", shares="a.mp4")
    archive = make_archive(tmp_path / "a", [a, silent, copy])
    sound = digest("sound", "a.mp4")
    line = {"key": "s", "source_id": sound, "line_no": 0, "start_s": 1.0, "end_s": 2.0,
            "text": "spoken", "model": "fake"}  # fmt: skip
    look = LookRow("s", sound, "speech", "fake", 0, 30000, "ok", 1)
    Ledger(archive).put_looks([look], {"speech": [line]})
    rows = archive.snapshot().relation("speech").to_pylist()
    assert [(r["video"], r["text"]) for r in rows] == [
        ("a.mp4", "spoken"), ("a.mp4", "subtitle"), ("copy.mkv", "spoken")
    ]  # fmt: skip
    runs = archive.snapshot().relation("tool_runs").to_pylist()
    assert [r["video"] for r in runs] == ["a.mp4", "copy.mkv"]


def test_a_missing_video_stays_visible(archive: Archive) -> None:
    Writer(archive).mark_paths(digest("file", "/videos", "a.mp4"), gone=["/videos/a.mp4"])
    rows = archive.snapshot().relation("videos").select(["video", "missing"]).to_pylist()
    assert rows == [{"video": "a.mp4", "missing": True}, {"video": "b.mp4", "missing": False}]


def test_a_cleaned_version_is_told_and_read_again(archive: Archive) -> None:
    old = archive.snapshot()
    with Writer(archive) as writer:
        writer.put(synthetic_video("c.mp4"))
    for table in archive.store.tables():
        archive.store.merge(table)
        archive.store.clean(table, 0)
    with pytest.raises(VersionGone):
        old.relation("frames")
    seen = []

    def work(snapshot: object) -> int:
        seen.append(snapshot)
        return len((old if len(seen) == 1 else archive.snapshot()).relation("frames"))

    assert archive.read(work) == 18 and len(seen) == 2


def test_a_missing_table_is_named(archive: Archive) -> None:
    (archive.path / "scenes.lance").rename(archive.path / "gone")
    with pytest.raises(ArchiveError, match=r"the table scenes is missing; restore scenes\.lance"):
        Archive.open(archive.path).snapshot().relation("scenes")


def test_three_hundred_thousand_rows_are_assembled_in_a_second(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "a")
    videos, each = 300, 1000
    rows = [{**synthetic_video(f"{n}.mp4").video, "ingest_id": f"i{n}"} for n in range(videos)]
    archive.store.append("videos", rows)
    owner = np.repeat(np.random.default_rng(0).permutation(videos), each)
    ids = pa.array([str(r["video_id"]) for r in rows]).take(pa.array(owner))
    ingests = pa.array([f"i{n}" for n in range(videos)]).take(pa.array(owner))
    number = np.tile(np.arange(each, dtype=np.int32), videos)
    table = {"video_id": ids, "ingest_id": ingests, "scene_no": number,
             "start_s": number.astype(float), "end_s": number + 1.0}  # fmt: skip
    archive.store.append("scenes", pa.table(table))
    before = time.process_time()
    scenes = archive.snapshot().relation("scenes")
    assert time.process_time() - before < 4  # CPU seconds of all threads, on any machine
    assert scenes["scene_no"].to_pylist()[:1001][-2:] == [999, 0]
    before = time.process_time()
    assert archive.snapshot().relation("scenes") is scenes
    assert time.process_time() - before < 0.5
