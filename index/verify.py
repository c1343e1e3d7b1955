"""`reel verify`: every way in which an archive can contradict itself, looked for.

Reads all rows of one snapshot, vectors and thumbnails too, and changes nothing. Most checks
are one SQL query each over the stored rows (`checks`); those over bytes are done here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reeldb.index import reel_toml
from reeldb.index.archive import Archive
from reeldb.index.checks import CHECKS
from reeldb.index.lock import is_claimed
from reeldb.index.session import Session
from reeldb.index.snapshot import Snapshot
from reeldb.schema.errors import ArchiveError
from reeldb.schema.tables import TABLES, embeddings_schema


@dataclass(frozen=True, slots=True)
class Fault:
    """One contradiction: its kind, where it is, what was found and how often, and the cure.

    `harmless` ones cost space and nothing else: no statement sees them.
    """

    kind: str
    where: str
    text: str
    count: int
    cure: str
    harmless: bool = False

    def __str__(self) -> str:
        return f"{self.where}: {self.text} ({self.kind}); {self.cure}"


def verify(archive: Archive) -> list[Fault]:
    """The archive's faults, worst kinds first; an empty list where it is sound."""
    faults = [*_toml(archive), *_schemas(archive)]
    if faults:  # what a table holds cannot be judged before its columns are right
        return faults
    try:
        return archive.read(_contents)
    except ArchiveError as e:
        return [Fault("unreadable", "archive", str(e), 1, "restore the table from a copy")]


def _toml(archive: Archive) -> Iterator[Fault]:
    try:
        reel_toml.read(archive.path)
    except (ArchiveError, FileNotFoundError) as e:
        yield Fault("broken reel.toml", reel_toml.NAME, str(e), 1, "write it anew, or restore it")


def _schemas(archive: Archive) -> Iterator[Fault]:
    """Tables that are missing, cannot be opened, or have other columns than they should."""
    store = archive.store
    for table in sorted({*TABLES, *store.tables()}):
        try:
            schema = store.schema(table)
            if table in TABLES:
                wanted = TABLES[table]
            elif table.startswith("embeddings_"):
                meta = schema.metadata or {}
                number = schema.field("vector").type.value_type
                known = number if number in (pa.float16(), pa.float32()) else None
                wanted = embeddings_schema(meta[b"space"].decode(), int(meta[b"dim"]), known)
            else:
                continue
        except (ArchiveError, AttributeError, KeyError, ValueError) as e:
            yield Fault("missing table", table, str(e), 1, "restore its folder from a copy")
            continue
        if not schema.equals(wanted):
            odd = sorted(set(map(str, schema)) ^ set(map(str, wanted))) or ["their order"]
            text = f"columns differ from the format's: {'; '.join(odd)[:200]}"
            yield Fault("schema drift", table, text, len(odd), "restore it from a copy")


def _contents(snapshot: Snapshot) -> list[Fault]:
    faults: list[Fault] = []
    with Session() as session:
        _register(session, snapshot)
        for check in CHECKS:
            for where, count, example in _rows(session.run(check.sql)):
                text = check.text.format(n=count, example=example)
                faults.append(Fault(check.kind, where, text, count, check.cure, check.harmless))
    return faults


def _rows(table: pa.Table) -> Iterator[tuple[str, int, str]]:
    for row in table.to_pylist():
        where, count, example = row.values()
        if count:
            yield str(where), int(count), str(example)


def _register(session: Session, snapshot: Snapshot) -> None:
    """The stored rows, live or not, as `s_<table>`, and the facts taken from their bytes."""
    for table in TABLES:
        rows = snapshot.rows(table)
        session.register(f"s_{table}", rows)
    session.register("s_vectors", _vectors(snapshot))
    session.register("bare", _without_thumbnail(snapshot))
    session.register("claimed", _claimed(snapshot))


def _vectors(snapshot: Snapshot) -> pa.Table:
    """The light columns of all vectors, with the length of each; NaN where it holds NaN."""
    names = ["video_id", "ingest_id", "t_s", "space", "vector"]
    pieces = []
    for table in snapshot.embedding_tables():
        version = snapshot.versions[table]
        for batch in snapshot.archive.store.batches(table, names, version=version):
            dim = batch.schema.field("vector").type.list_size
            flat = batch.column("vector").flatten().to_numpy(zero_copy_only=False)
            length = np.linalg.norm(np.asarray(flat, np.float64).reshape(-1, dim), axis=1)
            light = batch.select(names[:-1])
            columns = [*light.columns, pa.array(length)]
            pieces.append(pa.table(columns, names=[*names[:-1], "length"]))
    empty = pa.schema(
        [("video_id", pa.string()), ("ingest_id", pa.string()), ("t_s", pa.float64()),
         ("space", pa.string()), ("length", pa.float64())]
    )  # fmt: skip
    return pa.concat_tables([empty.empty_table(), *pieces])


def _without_thumbnail(snapshot: Snapshot) -> pa.Table:
    """Frames whose thumbnail is absent, empty or no JPEG."""
    names, pieces = ["ingest_id", "t_s", "thumbnail"], []
    version = snapshot.versions["frames"]
    for batch in snapshot.archive.store.batches("frames", names, version=version):
        start = pc.binary_slice(batch.column("thumbnail"), 0, 2)
        good = pc.fill_null(pc.equal(start, b"\xff\xd8"), False)
        pieces.append(batch.select(names[:2]).filter(pc.invert(good)))
    schema = pa.schema([("ingest_id", pa.string()), ("t_s", pa.float64())])
    return pa.Table.from_batches(pieces, schema=schema)


def _claimed(snapshot: Snapshot) -> pa.Table:
    """Ingests that a living writer has not published yet."""
    folder = snapshot.archive.claims
    names = [p.name for p in folder.iterdir()] if folder.is_dir() else []
    living = [n for n in names if is_claimed(folder / n)]
    return pa.table({"ingest_id": pa.array(living, pa.string())})
