from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reeldb.index import ivf, matrix
from reeldb.index.archive import Archive
from reeldb.index.commit import Vectors, Writer, vector_rows
from reeldb.index.compact import compact
from reeldb.index.spaces import space_table
from reeldb.index.store import Store
from reeldb.index.vectors import VectorSearch, best_of
from reeldb.index.verify import verify
from reeldb.schema.digests import digest
from reeldb.schema.errors import BindError
from reeldb.schema.tables import embeddings_schema
from tests.archives import DIM, make_archive, synthetic_video, unit


def search(archive: Archive) -> VectorSearch:
    return VectorSearch(archive.snapshot(), "test")


def brute(archive: Archive, relation: str, q: np.ndarray) -> np.ndarray:
    """The scores by the book: a dictionary of vectors, one product a row."""
    snapshot = archive.snapshot()
    embeddings = snapshot.relation("embeddings").to_pylist()
    vectors = snapshot.heavy("embeddings", "vector").to_pylist()
    known = {(e["video_id"], e["t_s"]): v for e, v in zip(embeddings, vectors, strict=True)}
    time = "key_s" if relation == "scenes" else "t_s"
    rows = snapshot.relation(relation).to_pylist()
    found = [known.get((r["video_id"], r[time])) for r in rows]
    return np.array([np.nan if v is None else np.dot(v, q) for v in found], np.float32)


@pytest.fixture
def mixed(tmp_path: Path) -> Archive:
    """Videos out of name order, one without vectors, one replaced, one removed."""
    names = ["d.mp4", "a.mp4", "c.mp4", "b.mp4", "e.mp4"]
    archive = make_archive(tmp_path / "a", [synthetic_video(n) for n in names])
    with Writer(archive) as writer:
        writer.put(synthetic_video("bare.mp4", space=None))
    with Writer(archive) as writer:
        writer.put(synthetic_video("c.mp4", scenes=[(0, 3), (3, 9)]), replace=True)
    Writer(archive).remove(digest("file", "/videos", "e.mp4"))
    return archive


@pytest.mark.parametrize("relation", ["frames", "scenes", "embeddings"])
def test_scores_of_a_relation_are_those_of_the_book(mixed: Archive, relation: str) -> None:
    q = unit("query")
    np.testing.assert_allclose(search(mixed).scores_for(relation, q), brute(mixed, relation, q),
                               atol=1e-3)  # fmt: skip
    some = np.array([5, 0, 3])
    np.testing.assert_allclose(search(mixed).scores_for(relation, q, some),
                               brute(mixed, relation, q)[some], atol=1e-3)  # fmt: skip


def test_the_best_row_is_the_picture_itself(mixed: Archive) -> None:
    rows, scores = search(mixed).top(unit("b.mp4", 3.5) * 7, 3, relation="scenes")
    best = mixed.snapshot().relation("scenes").slice(int(rows[0]), 1).to_pylist()[0]
    assert (best["video"], best["key_s"]) == ("b.mp4", 3.5)
    assert scores[0] == pytest.approx(1) and list(scores) == sorted(scores, reverse=True)


def test_a_filter_is_applied_before_the_search(mixed: Archive) -> None:
    frames = mixed.snapshot().relation("frames")
    videos = np.array(frames["video"].to_pylist())
    mask = (videos == "d.mp4") | (videos == "bare.mp4")
    rows, _ = search(mixed).top(unit("a.mp4", 1.0), 100, mask)
    assert sorted(rows) == np.flatnonzero(videos == "d.mp4").tolist()
    same, _ = search(mixed).top(unit("a.mp4", 1.0), 100, np.flatnonzero(mask))
    assert same.tolist() == rows.tolist()
    assert len(search(mixed).top(unit("x"), 5, np.zeros(len(videos), np.bool_))[0]) == 0
    one = np.flatnonzero(mask)[-1:]
    assert search(mixed).top(unit("x"), 5, one)[0].tolist() == one.tolist()


@given(st.lists(st.sampled_from([0.5, 0.25, float("nan"), -1.0]), max_size=12), st.integers(0, 14))
def test_the_best_come_in_order_with_ties_in_key_order(scores: list[float], k: int) -> None:
    there = [i for i, s in enumerate(scores) if s == s]
    wanted = sorted(there, key=lambda i: (-scores[i], i))[:k]
    assert best_of(np.array(scores, np.float32), k).tolist() == wanted


@pytest.mark.parametrize(
    ("q", "message"),
    [
        (np.ones(5), "the query has 5 numbers, the vectors of 'test' have 8"),
        (np.zeros(8), "zero, NaN or infinite"),
        (np.full(8, np.nan), "zero, NaN or infinite"),
    ],
)
def test_a_query_that_cannot_be_compared_is_refused(
    mixed: Archive, q: np.ndarray, message: str
) -> None:
    with pytest.raises(BindError, match=message):
        search(mixed).top(q, 1)


def test_an_unknown_space_names_the_known_ones(mixed: Archive) -> None:
    with pytest.raises(BindError, match=r"no vectors of 'tset' .*: did you mean test\?"):
        VectorSearch(mixed.snapshot(), "tset")
    with pytest.raises(BindError, match="captions has no pictures"):
        search(mixed).rows_for("captions")


def test_stored_nan_never_comes_up(archive: Archive) -> None:
    rows = archive.store.read("embeddings_test_fb913cd1").to_pylist()
    rows[0]["vector"] = [float("nan")] * 8
    archive.store.delete("embeddings_test_fb913cd1", "true")
    archive.store.append("embeddings_test_fb913cd1", rows)
    rows_found, scores = search(archive).top(unit("x"), 100)
    assert len(rows_found) == 11 and not np.isnan(scores).any()


def test_the_cache_outlives_commits_that_add_no_vectors(mixed: Archive) -> None:
    first = search(mixed).matrix.path
    assert first is not None and first.exists()
    with Writer(mixed) as writer:
        writer.put(synthetic_video("bare2.mp4", space=None))
    compact(mixed, superseded_s=0)
    stamp = first.stat().st_mtime_ns
    again = Archive.open(mixed.path)
    assert search(again).matrix.path == first and first.stat().st_mtime_ns == stamp
    q = unit("query")
    np.testing.assert_allclose(search(again).scores_for("frames", q), brute(again, "frames", q),
                               atol=1e-3)  # fmt: skip


def test_a_new_cache_reads_only_new_vectors_and_the_old_file_goes(
    mixed: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = search(mixed).matrix.path
    with Writer(mixed) as writer:
        writer.put(synthetic_video("new.mp4"))
    read: list[int] = []
    batches = Store.batches

    def counted(*args: object, **kw: object) -> object:
        for batch in batches(*args, **kw):  # type: ignore[arg-type]
            read.append(len(batch))
            yield batch

    monkeypatch.setattr(Store, "batches", counted)
    new = search(mixed).matrix
    assert sum(read) == 6 and len(new.t_s) > 20
    assert old is not None and not old.exists()
    assert len(list(mixed.cache.glob("*.npy"))) == len(list(mixed.cache.glob("*.json"))) == 1
    q = unit("query")
    np.testing.assert_allclose(search(mixed).scores_for("frames", q), brute(mixed, "frames", q),
                               atol=1e-3)  # fmt: skip


@pytest.mark.parametrize("damage", [b"", b"\x93NUMPY garbage", None])
def test_a_damaged_cache_is_made_again(mixed: Archive, damage: bytes | None) -> None:
    path = search(mixed).matrix.path
    assert path is not None
    path.write_bytes(path.read_bytes()[:-4] if damage is None else damage)
    fresh = Archive.open(mixed.path)
    q = unit("query")
    np.testing.assert_allclose(search(fresh).scores_for("frames", q), brute(fresh, "frames", q),
                               atol=1e-3)  # fmt: skip


def test_an_ingest_in_two_places_keeps_the_stored_order(archive: Archive) -> None:
    search(archive)  # fills the cache with blocks to reuse
    videos = [synthetic_video(n, scenes=[(0, 6)]) for n in ("x.mp4", "y.mp4")]
    writers = [Writer(archive, spill_bytes=0) for _ in videos]
    for half in (slice(0, 3), slice(3, None)):  # spilled in turns
        for writer, video in zip(writers, videos, strict=True):
            assert video.vectors is not None
            v = video.vectors
            part = Vectors(v.space, v.times_s[half], v.matrix[half])
            writer.stage_vectors(str(video.video["video_id"]), part)
    for writer, video in zip(writers, videos, strict=True):
        writer.stage("scenes", video.scenes)
        writer.stage("frames", video.frames)
        writer.publish(video.video)
    for name in ("x.mp4", "y.mp4"):
        for t in range(6):
            rows, scores = search(archive).top(unit(name, float(t)), 1)
            row = archive.snapshot().relation("frames").slice(int(rows[0]), 1).to_pylist()[0]
            assert (row["video"], row["t_s"]) == (name, t) and scores[0] == pytest.approx(1)


def test_threads_may_search_at_once(mixed: Archive) -> None:
    shared, answers = search(mixed), []

    def ask() -> None:
        answers.append(shared.top(unit("d.mp4", 2.0), 1)[0].tolist())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8 and len({tuple(a) for a in answers}) == 1


def clustered(archive: Archive, videos: int = 20, each: int = 150) -> np.ndarray:
    """Add pictures whose vectors lie around 40 centres; gives the centres."""
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((40, 32))
    for n in range(videos):
        points = centres[rng.integers(0, 40, each)] + 0.3 * rng.standard_normal((each, 32))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        video = synthetic_video(f"{n}.mp4", scenes=[(0, each)], vectors=None, space=None)
        times = np.arange(each, dtype=np.float64)
        video.vectors = Vectors("wide", times, points.astype(np.float32))
        with Writer(archive) as writer:
            writer.put(video)
    return np.asarray(centres / np.linalg.norm(centres, axis=1, keepdims=True))


def test_an_approximate_search_finds_nearly_all_and_honours_filters(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "a")
    queries = clustered(archive)
    compact(archive, superseded_s=0, ann_rows=1000)
    wide = VectorSearch(archive.snapshot(), "wide")
    assert wide.index() is not None
    exact = [set(wide.top(q, 10)[0]) for q in queries]
    near = [set(wide.top(q, 10, ann=True)[0]) for q in queries]
    hits = sum(len(a & b) for a, b in zip(exact, near, strict=True))
    assert hits / (10 * len(queries)) >= 0.95
    total = len(archive.snapshot().relation("frames"))
    mask = np.zeros(total, np.bool_)
    mask[: total // 2] = True
    rows, _ = wide.top(queries[0], 500, mask, ann=True)
    assert len(rows) == 500 and rows.max() < total // 2
    assert len(wide.top(queries[0], 10**6, ann=True)[0]) == 3000


def test_an_index_serves_the_vectors_it_was_built_from_and_no_others(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "a")
    queries = clustered(archive, videos=8)
    wide = VectorSearch(archive.snapshot(), "wide")
    assert wide.index() is None
    wide.build_index()
    assert wide.index() is not None
    path = wide.matrix.path
    assert path is not None
    before = [p.stat().st_mtime_ns for p in ivf.files(path)]
    wide.build_index()
    assert [p.stat().st_mtime_ns for p in ivf.files(path)] == before

    with Writer(archive) as writer:
        new = synthetic_video("new.mp4", scenes=[(0, 1)], space="wide",
                              vectors=np.tile(queries[0], (2, 1)).astype(np.float32))  # fmt: skip
        writer.put(new)
    wide = VectorSearch(archive.snapshot(), "wide")
    best = int(wide.top(queries[0], 1, ann=True)[0][0])
    assert archive.snapshot().relation("frames")["video"][best].as_py() == "new.mp4"
    assert not any(p.exists() for p in ivf.files(path))


def test_abandoned_drafts_go_and_young_ones_stay(
    mixed: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = mixed.cache / ".embeddings_test_fb913cd1-x.npy.1.1"
    draft.write_bytes(b"x")
    assert matrix.forget(mixed.cache, "embeddings_test_fb913cd1") == 0
    monkeypatch.setattr(matrix, "ABANDONED_S", -1.0)
    assert matrix.forget(mixed.cache, "embeddings_test_fb913cd1") == 1
    assert not draft.exists()


@given(st.integers(1, 1536), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 10.0, 1000.0]))
def test_half_precision_moves_no_cosine_by_a_thousandth(dim: int, seed: int, peaks: float) -> None:
    rng = np.random.default_rng(seed)
    raw = rng.standard_normal((2, dim))
    raw[0, rng.integers(dim)] *= peaks  # CLIP has numbers far larger than the rest
    rows = np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), np.float32)
    table, left_out = vector_rows("v", Vectors("s", np.arange(2.0), rows))
    stored = table["vector"].combine_chunks().flatten().to_numpy().astype(np.float32)
    stored = stored.reshape(2, dim)
    assert left_out == 0
    assert abs(stored[0] @ stored[1] - rows[0] @ rows[1]) < 0.001
    assert min(np.sum(stored * rows, axis=1) / np.linalg.norm(stored, axis=1)) > 0.999999


def test_a_table_of_single_precision_stays_and_is_sound(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "old", [])
    schema = embeddings_schema("test", DIM, pa.float32())
    archive.store.create(space_table("test"), schema)
    with Writer(archive) as writer:
        writer.put(synthetic_video("a.mp4"))
    assert archive.store.schema(space_table("test")) == schema
    rows, scores = search(archive).top(unit("a.mp4", 1.0), 1)
    assert len(rows) == 1 and scores[0] == pytest.approx(1, abs=1e-3)
    assert [f for f in verify(archive) if not f.harmless] == []
