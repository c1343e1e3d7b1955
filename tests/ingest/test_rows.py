from __future__ import annotations

import threading
import time

import numpy as np
import pyarrow as pa
import pytest

from reeldb.ingest.embedding import Embedding
from reeldb.ingest.rows import Rows
from reeldb.ingest.sampling import Sample, Take
from reeldb.models.fake import FakeEmbedder
from reeldb.schema.errors import ModelError

RED = np.full((8, 8, 3), (255, 0, 0), np.uint8)


class Kept:
    def __init__(self) -> None:
        self.tables: list[pa.Table] = []
        self.times: list[float] = []

    def frames(self, rows: pa.Table) -> None:
        self.tables.append(rows)

    def vectors(self, times_s: object, matrix: object) -> None:
        assert isinstance(times_s, np.ndarray) and isinstance(matrix, np.ndarray)
        assert len(times_s) == len(matrix)
        self.times += times_s.tolist()


def test_rows_wait_until_their_scene_is_known() -> None:
    kept, cuts = Kept(), []  # type: tuple[Kept, list[float]]
    rows = Rows(kept, cuts, with_vectors=False)
    rows.add([Sample(float(t), t, Take(b"x")) for t in range(1500)])
    rows.flush(100.0)
    assert [len(t) for t in kept.tables] == [100]
    cuts += [200.0, 1000.5]
    rows.finish()
    table = pa.concat_tables(kept.tables)
    assert table["t_s"].to_pylist() == list(range(1500))
    assert table["scene_no"].to_pylist() == [0] * 200 + [1] * 801 + [2] * 499


def test_pictures_that_cannot_be_embedded_are_counted_and_the_rest_kept() -> None:
    kept = Kept()
    rows = Rows(kept, [], with_vectors=True)
    good = Take(b"", np.ones(4, np.float32), done=True)
    rows.add([Sample(0.0, 0, good), Sample(1.0, 1, Take(b"", None, done=True))])
    rows.finish()
    assert kept.times == [0.0] and rows.unembedded == 1


def test_every_picture_put_is_embedded_when_the_context_ends() -> None:
    takes = [Take(b"") for _ in range(11)]
    with Embedding(FakeEmbedder("fake:embedder?dim=16&batch=4")) as embedding:
        for take in takes:
            embedding.put(take, RED)
    assert all(t.done and t.vector is not None and t.vector.shape == (16,) for t in takes)


def test_a_failing_embedder_is_an_error_and_blocks_nobody() -> None:
    with (
        pytest.raises(ModelError),
        Embedding(FakeEmbedder("fake:embedder?dim=16&batch=1&crash=1")) as embedding,
    ):
        for _ in range(100):
            embedding.put(Take(b""), RED)
            time.sleep(0.001)
    assert not [t for t in threading.enumerate() if t.name == "reel-embedding"]
