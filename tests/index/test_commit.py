from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import numpy as np
import pyarrow as pa
import pytest

from reeldb.index.archive import Archive
from reeldb.index.commit import Vectors, Writer
from reeldb.index.ledger import CaptionRow, Ledger, LookRow
from reeldb.index.store import Store
from reeldb.index.verify import verify
from reeldb.schema.digests import digest
from reeldb.schema.errors import ArchiveError, BindError, SchemaError
from tests.archives import DIM, SPACE, make_archive, synthetic_video

A = digest("file", "/videos", "a.mp4")
B = digest("file", "/videos", "b.mp4")


class Killed(BaseException):
    """Stands for SIGKILL: no handler of the product may run after it."""


def state(archive: Archive) -> dict[str, list[dict[str, object]]]:
    """All that a reader can see, but for the ids of ingests."""
    snapshot = archive.snapshot()
    names = ("videos", "scenes", "frames", "embeddings", "speech")
    rows = {name: snapshot.relation(name) for name in names}
    rows["videos"] = rows["videos"].drop_columns(["ingest_id"])
    return {name: table.to_pylist() for name, table in rows.items()}


def row(archive: Archive, video_id: str = A) -> dict[str, object]:
    rows = archive.store.read("videos", where=f"video_id = '{video_id}'").to_pylist()
    assert len(rows) == 1
    return dict(rows[0])


def test_staged_rows_are_invisible_until_they_are_published(archive: Archive) -> None:
    before = state(archive)
    new = synthetic_video("c.mp4")
    with Writer(archive, spill_bytes=0) as writer:
        writer.stage("scenes", new.scenes)
        writer.stage("frames", new.frames)
        assert new.vectors is not None
        writer.stage_vectors(str(new.video["video_id"]), new.vectors)
        assert archive.store.count("frames") == 18
        assert state(archive) == before
        published = writer.publish(new.video)
    assert published.ours
    assert [v["name"] for v in state(archive)["videos"]] == ["a.mp4", "b.mp4", "c.mp4"]
    assert len(state(archive)["frames"]) == len(state(archive)["embeddings"]) == 18
    assert verify(archive) == []


def test_leaving_a_writer_unpublished_drops_what_it_spilled(archive: Archive) -> None:
    with Writer(archive, spill_bytes=0) as writer:
        writer.stage("scenes", synthetic_video("c.mp4").scenes)
    assert archive.store.count("scenes") == 4
    assert list(archive.claims.iterdir()) == []


def test_a_small_video_is_one_version_a_table(archive: Archive) -> None:
    before = archive.store.versions()
    with Writer(archive) as writer:
        writer.put(synthetic_video("c.mp4"))
    after = archive.store.versions()
    grown = {t: after[t] - before[t] for t in after if after[t] != before[t]}
    assert set(grown.values()) == {1} and len(grown) == 4


def test_the_first_to_publish_a_video_wins_and_learns_the_other_path(archive: Archive) -> None:
    first = row(archive)["ingest_id"]
    copy = synthetic_video("a.mp4", scenes=[(0, 9)], subtitles=[(0, 1, "other")])
    copy.video.update(path="/copies/z.mp4", aliases=["/copies/z.mp4"])
    with Writer(archive, spill_bytes=0) as writer:
        published = writer.put(copy)
    assert not published.ours and published.ingest_id == first
    assert row(archive)["aliases"] == ["/videos/a.mp4", "/copies/z.mp4"]
    assert row(archive)["name"] == "z.mp4"
    assert [s["end_s"] for s in state(archive)["scenes"]] == [2, 5, 2, 5]
    assert archive.store.count("scenes") == 4 and archive.store.count("speech") == 1


def test_replace_swaps_all_rows_in_one_commit(archive: Archive) -> None:
    with Writer(archive) as writer:
        writer.put(synthetic_video("a.mp4", scenes=[(0, 1), (1, 7)], fps=2), replace=True)
    seen = state(archive)
    assert [(s["video"], s["end_s"]) for s in seen["scenes"]] == [
        ("a.mp4", 1), ("a.mp4", 7), ("b.mp4", 2), ("b.mp4", 5)
    ]  # fmt: skip
    assert seen["speech"] == [] and row(archive)["aliases"] == ["/videos/a.mp4"]
    assert archive.store.count("scenes") == 4 and archive.store.count("speech") == 0
    assert verify(archive) == []


def changes(kind: str) -> Callable[[Archive], object]:
    """The writing operations, each on an archive of a.mp4 and b.mp4."""

    def add(archive: Archive) -> None:
        with Writer(archive, spill_bytes=0) as writer:
            writer.put(synthetic_video("c.mp4", subtitles=[(0, 1, "x")]))

    def replace(archive: Archive) -> None:
        with Writer(archive) as writer:
            writer.put(synthetic_video("a.mp4", scenes=[(0, 9)]), replace=True)

    def remove(archive: Archive) -> None:
        Writer(archive).remove(A, purge=True)

    def twin(archive: Archive) -> None:
        video = synthetic_video("a.mkv", shares="a.mp4").video
        with Writer(archive) as writer:
            writer.copy_twin(A, video)

    return {"add": add, "replace": replace, "remove": remove, "twin": twin}[kind]


@pytest.mark.parametrize("kind", ["add", "replace", "remove", "twin"])
def test_a_writer_killed_at_any_store_call_leaves_the_old_state_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    change = changes(kind)
    videos = [synthetic_video("a.mp4", subtitles=[(0, 1, "hi")]), synthetic_video("b.mp4")]
    base = make_archive(tmp_path / "base", videos).path
    done = Archive.open(copytree(base, tmp_path / "done"))
    old = state(done)
    change(done)
    new = state(done)
    assert new != old

    for n in range(100):
        archive = Archive.open(copytree(base, tmp_path / f"{kind}{n}"))
        with monkeypatch.context() as patch:
            if not _killed_at(archive, change, n, patch):
                assert n >= 4
                break
        reopened = Archive.open(archive.path)
        assert state(reopened) in (old, new)
        if n % 4 == 0:  # the rest is compared row by row below
            assert [f for f in verify(reopened) if not f.harmless] == []
        if state(reopened) == old:
            change(reopened)
        assert state(reopened) == new
    else:
        pytest.fail("the change never ended")


def _killed_at(
    archive: Archive, change: Callable[[Archive], object], n: int, patch: pytest.MonkeyPatch
) -> bool:
    """Run the change, dying before its n-th write; whether it died."""
    calls = 0

    def dying(method: str) -> Callable[..., object]:
        real = getattr(Store, method)

        def call(store: Store, *args: object, **kw: object) -> object:
            nonlocal calls
            calls += 1
            if calls > n:
                raise Killed
            return real(store, *args, **kw)

        return call

    for method in ("append", "upsert", "delete", "create"):
        patch.setattr(Store, method, dying(method))
    try:
        change(archive)
    except Killed:
        return True
    return False


def test_a_twin_shares_scenes_pictures_and_vectors_but_no_subtitles(archive: Archive) -> None:
    video = synthetic_video("a.mkv", shares="a.mp4").video
    with Writer(archive) as writer:
        assert writer.copy_twin(A, video).ours
    seen = state(archive)
    for name in ("scenes", "frames", "embeddings"):
        rows = {v: [{k: x for k, x in r.items() if k not in ("video", "video_id")}
                    for r in seen[name] if r["video"] == v]
                for v in ("a.mp4", "a.mkv")}  # fmt: skip
        assert rows["a.mkv"] == rows["a.mp4"] != []
    assert [s["video"] for s in seen["speech"]] == ["a.mp4"]
    assert verify(archive) == []
    with pytest.raises(BindError, match="no video 'absent' to copy from"):
        Writer(archive).copy_twin("absent", video)


def test_paths_come_and_go(archive: Archive) -> None:
    writer = Writer(archive)
    writer.mark_paths(A, seen=["/new/name.mp4"], gone=["/videos/a.mp4"])
    assert (row(archive)["path"], row(archive)["name"]) == ("/new/name.mp4", "name.mp4")
    assert row(archive)["aliases"] == ["/videos/a.mp4", "/new/name.mp4"]
    writer.mark_paths(A, gone=["/videos/a.mp4", "/new/name.mp4"])
    assert (row(archive)["missing"], row(archive)["name"]) == (True, "name.mp4")
    assert [v["video"] for v in state(archive)["videos"]] == ["b.mp4", "name.mp4"]
    writer.mark_paths(A, seen=["/videos/a.mp4"])
    assert (row(archive)["missing"], row(archive)["name"]) == (False, "a.mp4")
    writer.mark_paths(A, missing=True)
    assert row(archive)["missing"] is True
    version = archive.store.version("videos")
    writer.mark_paths(A, missing=True)
    assert archive.store.version("videos") == version
    with pytest.raises(BindError, match="no video 'absent'"):
        writer.mark_paths("absent")


def test_rm_keeps_what_was_paid_for_and_purge_does_not(archive: Archive) -> None:
    copy = synthetic_video("copy.mkv", shares="a.mp4")
    with Writer(archive) as writer:
        writer.put(copy)
    content, ledger = digest("content", "a.mp4"), Ledger(archive)
    sound = digest("sound", "a.mp4")
    ledger.put_captions(
        [CaptionRow("k", content, "clip", 0, 2, [0], "a cat", "fake", "scene", "ok")]
    )
    ledger.put_looks(
        [LookRow("o", content, "ocr", "fake", 0, 0, "ok", 1),
         LookRow("s", sound, "speech", "fake", 0, 30000, "ok", 1)],
        {"ocr": [{"key": "o", "content_id": content, "line_no": 0, "t_ms": 0, "text": "EXIT"}],
         "speech": [{"key": "s", "source_id": sound, "line_no": 0, "start_s": 0.0, "text": "hi"}]},
    )  # fmt: skip

    Writer(archive).remove(A, purge=True)
    assert [c["video"] for c in archive.snapshot().relation("captions").to_pylist()] == ["copy.mkv"]
    Writer(archive).remove(str(copy.video["video_id"]))
    kept = ("captions", "ocr", "tool_runs", "speech")
    assert [len(archive.snapshot().relation(t)) for t in kept] == [0, 0, 0, 0]
    assert set(ledger.captions(["k"])) == {"k"}

    with Writer(archive) as writer:
        writer.put(synthetic_video("a.mp4"))
    assert [len(archive.snapshot().relation(t)) for t in kept] == [1, 1, 2, 1]
    Writer(archive).remove(A, purge=True)
    assert [archive.store.count(t) for t in kept] == [0, 0, 0, 0]
    assert [v["video"] for v in state(archive)["videos"]] == ["b.mp4"]
    with pytest.raises(BindError, match="no video"):
        Writer(archive).remove(A)


def test_vectors_with_nan_are_left_out_and_counted(archive: Archive) -> None:
    matrix = np.eye(3, DIM, dtype=np.float32)
    matrix[1, 0] = np.nan
    with Writer(archive) as writer:
        assert writer.stage_vectors("v", Vectors(SPACE, np.arange(3.0), matrix)) == 1


def test_vectors_and_times_must_pair(archive: Archive) -> None:
    for matrix in (np.eye(3, DIM), np.zeros(3)):
        vectors = Vectors(SPACE, np.arange(4.0), matrix.astype(np.float32))
        with pytest.raises(SchemaError, match="for 4 times"):
            Writer(archive).stage_vectors("v", vectors)


def test_a_video_can_be_given_the_vectors_of_another_space(archive: Archive) -> None:
    times = archive.snapshot().relation("frames")["t_s"].to_numpy()[:6]
    matrix = np.eye(6, 12, dtype=np.float32)
    for _ in range(2):  # a second time changes nothing
        for video_id in (A, B):
            Writer(archive).put_vectors(video_id, Vectors("new", times, matrix), "fake:new")
        assert archive.snapshot().spaces() == {"new": 12, "test": 8}
        assert len(archive.snapshot().relation("embeddings")) == 24
    Writer(archive).drop_vectors("test")
    Writer(archive).drop_vectors("never there")
    assert archive.snapshot().spaces() == {"new": 12}
    assert {v["embedder"] for v in state(archive)["videos"]} == {"fake:new"}
    assert verify(archive) == []
    with pytest.raises(BindError, match="no video 'absent'"):
        Writer(archive).put_vectors("absent", Vectors("new", times, matrix), "fake:new")


def test_a_second_space_has_a_table_of_its_own_width(archive: Archive) -> None:
    with Writer(archive) as writer:
        writer.put(synthetic_video("c.mp4", space="Wide", vectors=np.eye(6, 12, dtype=np.float32)))
    assert archive.snapshot().spaces() == {"test": 8, "Wide": 12}
    vectors = archive.snapshot().heavy("embeddings", "vector")
    assert [len(v) for v in vectors.to_pylist()] == [8] * 12 + [12] * 6


def test_only_tables_of_an_ingest_can_be_staged(archive: Archive) -> None:
    with pytest.raises(SchemaError, match="captions holds no rows of an ingest"):
        Writer(archive).stage("captions", [])
    with pytest.raises(SchemaError, match="scenes has no column 'scene': did you mean"):
        Writer(archive).stage("scenes", pa.table({"scene": [1]}))


def test_a_failed_write_leaves_nothing_visible_and_can_be_repeated(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, append = state(archive), Store.append

    def full(store: Store, table: str, rows: pa.Table) -> int:
        if table == "frames":
            raise ArchiveError("the disk is full")
        return append(store, table, rows)

    monkeypatch.setattr(Store, "append", full)
    with pytest.raises(ArchiveError, match="disk is full"), Writer(archive) as writer:
        writer.put(synthetic_video("c.mp4"))
    assert state(archive) == before and archive.store.count("scenes") == 4
    monkeypatch.undo()
    with Writer(archive) as writer:
        writer.put(synthetic_video("c.mp4"))
    assert len(state(archive)["videos"]) == 3 and verify(archive) == []
