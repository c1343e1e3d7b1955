"""The vectors of one space as a float32 matrix, memory-mapped from the archive's cache.

A flat search through Lance takes seconds at a million vectors, one numpy product over a
mapped matrix a fraction of one. The cache file is named by what is in it (which ingests,
which times), never by a version: so it outlives commits that add no vectors, and a file
from another state of the archive cannot be taken for this one. Vectors of an ingest never
change, so a new file takes what it can from the one before it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.lib import format as npy
from numpy.typing import NDArray

from reeldb.index.assemble import Ints, owned, whole
from reeldb.index.store import any_of
from reeldb.schema.digests import digest

if TYPE_CHECKING:
    from reeldb.index.snapshot import Snapshot

Floats = NDArray[np.float32]
ABANDONED_S = 3600.0  # drafts older than this were left by a killed process


@dataclass(frozen=True)
class Block:
    """The rows of one ingest: `count` rows from row `start` of the matrix."""

    ingest_id: str
    start: int
    count: int


@dataclass(frozen=True)
class Matrix:
    """Row i of `vectors` (n, dim) is the picture at `t_s[i]` of the video of rank `rank[i]`.

    `path` is the file they are mapped from, None where they are in memory.
    """

    vectors: Floats
    rank: Ints
    t_s: NDArray[np.float64]
    path: Path | None


def load(snapshot: Snapshot, table: str, dim: int) -> Matrix:
    """The live vectors of a table, from the cache where it has them, else made and cached.

    Where the cache cannot be written the matrix is kept in memory instead.
    """
    rows = snapshot.rows(table, ["ingest_id", "t_s"])
    rows, rank = owned(rows, snapshot.live)
    t_s = np.asarray(rows["t_s"].to_numpy(), np.float64)
    blocks = _blocks(rows["ingest_id"])
    name = f"{table}-{digest(json.dumps([_plain(b) for b in blocks]), t_s.tobytes(), str(dim))}"
    path = snapshot.archive.cache / f"{name}.npy"
    vectors = _mapped(path, (len(rows), dim))
    if vectors is None:
        source = _Source(snapshot, table, dim, blocks)
        vectors = _written(path, source) if len(rows) else np.empty((0, dim), np.float32)
    return Matrix(vectors, rank, t_s, path if isinstance(vectors, np.memmap) else None)


def _plain(block: Block) -> tuple[str, int, int]:
    return block.ingest_id, block.start, block.count


def _blocks(ingest_ids: pa.ChunkedArray) -> tuple[Block, ...]:
    """Runs of equal ids, in stored order."""
    if not len(ingest_ids):
        return ()
    runs = pc.run_end_encode(whole(ingest_ids))
    ends = np.asarray(runs.run_ends.to_numpy(), np.int64)
    starts = np.concatenate([[0], ends[:-1]])
    ids = runs.values.to_pylist()
    return tuple(
        Block(str(i), int(a), int(b - a)) for i, a, b in zip(ids, starts, ends, strict=True)
    )


def _mapped(path: Path, shape: tuple[int, int]) -> Floats | None:
    """The file's matrix, or None where it is not there or not whole."""
    try:
        matrix = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError):
        return None
    return matrix if matrix.shape == shape and matrix.dtype == np.float32 else None


class _Source:
    """Gives the matrix in order, block by block: from an older file, else from Lance."""

    def __init__(self, snapshot: Snapshot, table: str, dim: int, blocks: tuple[Block, ...]) -> None:
        self.snapshot, self.table, self.dim, self.blocks = snapshot, table, dim, blocks
        self.shape = (sum(b.count for b in blocks), dim)

    def __iter__(self) -> Iterator[Floats]:
        old, known = _older(self.snapshot.archive.cache, self.table, self.dim)
        if len({b.ingest_id for b in self.blocks}) < len(self.blocks):
            known = {}  # an ingest in two places: one scan keeps the stored order
        run: list[Block] = []
        for block in self.blocks:
            found = known.get((block.ingest_id, block.count))
            if old is None or found is None:
                run.append(block)
                continue
            yield from self._read(run)
            run = []
            yield old[found : found + block.count]
        yield from self._read(run)

    def _read(self, run: list[Block]) -> Iterator[Floats]:
        """Consecutive blocks from the table; all of it in one scan where none are known."""
        if not run:
            return
        everything = len(run) == len(self.blocks)
        where = None if everything and self._all_live() else any_of(
            "ingest_id", {b.ingest_id for b in run}
        )  # fmt: skip
        version = self.snapshot.versions[self.table]
        for batch in self.snapshot.archive.store.batches(self.table, ["vector"], where, version):
            flat = batch.column(0).flatten().to_numpy(zero_copy_only=False)
            yield _unit(flat.reshape(-1, self.dim))

    def _all_live(self) -> bool:
        version = self.snapshot.versions[self.table]
        return self.snapshot.archive.store.count(self.table, version=version) == self.shape[0]


def _unit(rows: NDArray[np.floating]) -> Floats:
    """The rows as float32; stored as float16 they have lost a little of their length, too."""
    vectors = np.asarray(rows, np.float32)
    if rows.dtype != np.float16:
        return vectors
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1), np.float32)


def _older(cache: Path, table: str, dim: int) -> tuple[Floats | None, dict[tuple[str, int], int]]:
    """The newest cached matrix of the table, and (ingest id, rows) -> first row in it."""
    for path in sorted(cache.glob(f"{table}-*.npy"), key=_born, reverse=True):
        with suppress(OSError, ValueError, EOFError, TypeError):
            blocks = [Block(*row) for row in json.loads(path.with_suffix(".json").read_text())]
            matrix = _mapped(path, (sum(b.count for b in blocks), dim))
            once = {b.ingest_id for b in blocks}
            if matrix is not None and len(once) == len(blocks):
                return matrix, {(b.ingest_id, b.count): b.start for b in blocks}
    return None, {}


def _born(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _written(path: Path, source: _Source) -> Floats:
    """The matrix, written beside its place and moved there whole; in memory where it cannot."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    try:
        path.parent.mkdir(exist_ok=True)
        with draft.open("wb") as f:
            _header(f, source.shape)
            for piece in source:
                f.write(np.ascontiguousarray(piece).data)
        path.with_suffix(".json").write_text(json.dumps([_plain(b) for b in source.blocks]))
        draft.replace(path)
    except OSError:  # read-only or full: the search still works, only slower the next time
        return np.concatenate(list(source))
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    forget(path.parent, path.name.split("-")[0], keep=path)
    mapped = _mapped(path, source.shape)
    return np.concatenate(list(source)) if mapped is None else mapped


def _header(f: BinaryIO, shape: tuple[int, int]) -> None:
    description = {"descr": "<f4", "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(f, description)


def forget(cache: Path, table: str, keep: Path | None = None) -> int:
    """Remove the cached matrices of a table but one, and abandoned drafts; gives the bytes.

    Safe while others read them: a mapped file stays readable after it is unlinked.
    """
    old = [p for p in cache.glob(f"{table}-*") if keep is None or not _of(p, keep)]
    for draft in cache.glob(f".{table}-*"):
        if time.time() - _born(draft) > ABANDONED_S:
            old.append(draft)
    freed = 0
    for path in old:
        with suppress(OSError):
            freed += path.stat().st_size
            path.unlink()
    return freed


def _of(path: Path, matrix: Path) -> bool:
    """Whether a file is the matrix file or one beside it (its blocks, its index)."""
    return path.name.partition(".")[0] == matrix.stem
