"""Vector search over a million pictures, against one numpy matrix-vector product and Lance's own.

Vectors come from a mixture of 2,000 clusters, queries are perturbed rows. The exact search,
the approximate one (time and recall@10), a search inside one video, the same through `db.sql`
and Lance's own flat search (what LanceDB runs without an index) are all timed in one run, on
the same data.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import reeldb
from benchmarks.rows import Row, ratio
from benchmarks.timing import call, interleaved
from reeldb.index.archive import Archive
from reeldb.index.commit import Ingest, Vectors, Writer
from reeldb.index.vectors import VectorSearch
from reeldb.query.strategies.diverse import greedy_dpp
from reeldb.schema.digests import digest
from reeldb.schema.settings import Settings
from reeldb.schema.tables import FRAMES, SCENES

CLUSTERS, VIDEOS, QUERIES, K = 2_000, 200, 20, 10
Floats = NDArray[np.float32]


def mixture(rows: int, dim: int, dice: np.random.Generator) -> Floats:
    """Unit vectors round 2,000 centres, shape (rows, dim)."""
    centres = dice.standard_normal((CLUSTERS, dim), np.float32)
    out = np.empty((rows, dim), np.float32)
    for at in range(0, rows, 50_000):
        end = min(rows, at + 50_000)
        part = centres[dice.integers(0, CLUSTERS, end - at)]
        part = part + 0.5 * dice.standard_normal(part.shape, np.float32)
        out[at:end] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return out


def build(place: Path, vectors: Floats, space: str) -> Archive:
    """An archive of 200 videos that share the vectors between them, one a second."""
    archive = Archive.open(place, create=True)
    each = len(vectors) // VIDEOS
    for n in range(VIDEOS):
        times = np.arange(each, dtype=np.float64)
        video_id, name = digest(f"video {n}"), f"{n:03d}.mp4"
        span = {"video_id": video_id, "scene_no": 0, "start_s": 0.0, "end_s": float(each)}
        frames = {
            "video_id": pa.array([video_id] * each),
            "t_s": pa.array(times),
            "on_grid": pa.array([True] * each),
            "frame_no": pa.array(np.arange(each, dtype=np.int32)),
            "scene_no": pa.array(np.zeros(each, np.int32)),
        }
        with Writer(archive) as writer:
            writer.put(
                Ingest(
                    video={
                        "video_id": video_id, "name": name, "path": f"/{name}",
                        "aliases": [f"/{name}"], "content_id": digest(name),
                        "duration_s": float(each), "scene_count": 1,
                        "settings": Settings().row(), "damaged": False, "missing": False,
                    },
                    scenes=pa.Table.from_pylist([{**span, "key_s": 0.0}], schema=SCENES),
                    frames=pa.table(frames).select([c for c in FRAMES.names if c in frames]),
                    vectors=Vectors(space, times, vectors[n * each : (n + 1) * each]),
                )
            )  # fmt: skip
    return archive


def rows(quick: bool) -> Iterator[Row]:
    count, dim = (50_000, 128) if quick else (1_000_000, 512)
    dice = np.random.default_rng(0)
    vectors = mixture(count, dim, dice)
    queries = vectors[dice.integers(0, count, QUERIES)]
    queries = queries + 0.3 / dim**0.5 * dice.standard_normal(queries.shape, np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    order = iter(range(10**9))

    def query() -> Floats:
        return np.asarray(queries[next(order) % QUERIES], np.float32)

    with tempfile.TemporaryDirectory() as folder:
        archive = build(Path(folder) / "archive", vectors, f"fake:embedder?dim={dim}@{dim}")
        plain = _plain(Path(folder) / "plain.lance", vectors)
        yield from _searched(archive, vectors, queries, query, plain)
        yield _through_sql(archive.path, vectors)
    yield _diverse(dice)


def _searched(
    archive: Archive,
    vectors: Floats,
    queries: Floats,
    query: Callable[[], Floats],
    plain: lance.LanceDataset,
) -> Iterator[Row]:
    count, dim = vectors.shape
    search = VectorSearch(archive.snapshot(), f"fake:embedder?dim={dim}@{dim}")
    one_video = np.asarray(archive.snapshot().ranks("frames")) == VIDEOS // 2
    product = f"numpy product, {count:,} x {dim}"
    built_s = call(lambda: search.top(queries[0], K)).wall_s
    timed = interleaved(
        {
            "numpy": lambda: call(lambda: vectors @ query()),
            "exact": lambda: call(lambda: search.top(query(), K)),
            "one video": lambda: call(lambda: search.top(query(), K, within=one_video)),
        },
        QUERIES,
        warm_up=2,
    )
    base, exact = timed["numpy"], timed["exact"]
    yield ratio("exact top-10", product, exact, base, at_most=1.5)
    yield Row("first search, which builds the matrix cache", product, built_s / base.wall_s)
    inside_ms = timed["one video"].wall_s * 1000
    yield Row("top-10 inside one video", "", inside_ms, "ms", at_most=20)
    nearest = interleaved(
        {
            "reel": lambda: call(lambda: search.top(query(), K)),
            "lance": lambda: call(lambda: _nearest(plain, query())),
        },
        5,
        warm_up=2,
    )
    yield ratio("exact top-10", "Lance's flat search", nearest["reel"], nearest["lance"])
    truth = [search.top(q, K)[0] for q in queries]
    started = time.perf_counter()
    search.build_index()
    note = f"index built in {(time.perf_counter() - started) / base.wall_s:,.0f} products"
    found = [search.top(q, K, ann=True)[0] for q in queries]
    recall = np.mean([len(set(a) & set(b)) / K for a, b in zip(truth, found, strict=True)])
    yield Row("recall@10, approximate", "exact top-10", float(recall), "", at_least=0.95)
    ann = interleaved(
        {
            "exact": lambda: call(lambda: search.top(query(), K)),
            "ann": lambda: call(lambda: search.top(query(), K, ann=True)),
        },
        QUERIES,
        warm_up=2,
    )
    yield ratio("exact top-10", "approximate top-10", ann["exact"], ann["ann"],
                at_least=10, note=note)  # fmt: skip


def _plain(place: Path, vectors: Floats) -> lance.LanceDataset:
    """The same vectors in a Lance dataset of its own, without an index."""
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    return lance.write_dataset(pa.table({"vector": column}), str(place))


def _nearest(plain: lance.LanceDataset, query: Floats) -> pa.Table:
    nearest = {"column": "vector", "q": query, "k": K, "metric": "dot", "use_index": False}
    return plain.to_table(columns=[], with_row_id=True, nearest=nearest)


def _diverse(dice: np.random.Generator) -> Row:
    """RACER's choice of 32 pictures of a film of 140 minutes: vectors of shots that drift."""
    shots = mixture(840, 512, dice).repeat(10, axis=0)
    vectors = shots + 0.2 / 512**0.5 * dice.standard_normal(shots.shape, np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = np.float64(vectors @ vectors[dice.integers(0, len(vectors))])
    relevance = (scores - scores.mean()) / scores.std()
    runs = interleaved({"dpp": lambda: call(lambda: greedy_dpp(vectors, relevance, 32))}, 15)
    what = f"32 of {len(vectors):,} pictures x 512 chosen by `dpp`"
    return Row(what, "", runs["dpp"].wall_s * 1000, "ms", at_most=100)


def _through_sql(place: Path, vectors: Floats) -> Row:
    """The same search as a statement: a text is embedded, all scores are ranked."""
    with reeldb.open(place) as db:
        db.set_model("embedder", f"fake:embedder?dim={vectors.shape[1]}")
        statement = (
            "SELECT video, t_s FROM frames ORDER BY similarity(image, 'a red thing') DESC LIMIT 10"
        )
        db.sql(statement)
        vector = db.models.embedder().embed_texts(["a red thing"])[0]
        timed = interleaved(
            {
                "numpy": lambda: call(lambda: vectors @ vector),
                "sql": lambda: call(lambda: db.sql(statement)),
            },
            7,
        )
    what = "`ORDER BY similarity(image, ...) LIMIT 10` by `db.sql`"
    return ratio(what, "numpy product", timed["sql"], timed["numpy"])
