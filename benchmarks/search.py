"""Vector search over a million pictures, against one numpy matrix-vector product.

    python -m benchmarks.search [ROWS] [DIM]

Vectors come from a mixture of 2,000 clusters, queries are perturbed rows. The exact search,
the approximate one (time and recall@10), a search inside one video, and the same through
`db.sql` are all timed in one run, on the same data.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import reeldb
from benchmarks.timing import call, interleaved, ratio
from reeldb.index.archive import Archive
from reeldb.index.commit import Ingest, Vectors, Writer
from reeldb.index.vectors import VectorSearch
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


def main(rows: int = 1_000_000, dim: int = 512) -> None:
    """Builds, measures, prints."""
    dice = np.random.default_rng(0)
    vectors = mixture(rows, dim, dice)
    queries = vectors[dice.integers(0, rows, QUERIES)]
    queries = queries + 0.3 / dim**0.5 * dice.standard_normal(queries.shape, np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    space = f"fake:embedder?dim={dim}@{dim}"
    with tempfile.TemporaryDirectory() as folder:
        archive = build(Path(folder) / "archive", vectors, space)
        search = VectorSearch(archive.snapshot(), space)
        one_video = np.asarray(archive.snapshot().ranks("frames")) == VIDEOS // 2
        print(f"{rows:,} x {dim}, {QUERIES} queries")
        started = time.perf_counter()
        search.top(queries[0], K)
        print(f"first search, building the matrix cache: {time.perf_counter() - started:.1f} s")
        order = iter(range(10**9))

        def query() -> Floats:
            return np.asarray(queries[next(order) % QUERIES], np.float32)

        contestants = {
            "numpy product": lambda: call(lambda: vectors @ query()),
            "exact top-10": lambda: call(lambda: search.top(query(), K)),
            "inside one video": lambda: call(lambda: search.top(query(), K, within=one_video)),
        }
        timed = interleaved(contestants, QUERIES, warm_up=2)
        base = timed["numpy product"]
        exact = [search.top(q, K)[0] for q in queries]
        print(f"exact top-10 over numpy product: {ratio(timed['exact top-10'], base)} (goal 1.5)")
        print(f"inside one video: {timed['inside one video'].wall_s * 1000:.1f} ms (goal 20)")
        started = time.perf_counter()
        search.build_index()
        print(f"building the index: {time.perf_counter() - started:.1f} s")
        found = [search.top(q, K, ann=True)[0] for q in queries]
        recall = np.mean([len(set(a) & set(b)) / K for a, b in zip(exact, found, strict=True)])
        ann = interleaved(
            {
                "exact": lambda: call(lambda: search.top(query(), K)),
                "ann": lambda: call(lambda: search.top(query(), K, ann=True)),
            },
            QUERIES,
            warm_up=2,
        )
        print(f"approximate: recall@10 {recall:.3f} (goal 0.95), exact over approximate "
              f"{ratio(ann['exact'], ann['ann'])} (goal 10)")  # fmt: skip
        _through_sql(archive.path, vectors)


def _through_sql(place: Path, vectors: Floats) -> None:
    """The same search as a statement: a text is embedded, a million scores are ranked."""
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
        over = ratio(timed["sql"], timed["numpy"])
        print(f"db.sql(ORDER BY similarity LIMIT 10) over numpy: {over}")


if __name__ == "__main__":
    main(*(int(a) for a in sys.argv[1:]))
