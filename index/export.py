"""`reel export --duckdb FILE`: the archive as an ordinary DuckDB file.

Schema `main` holds every relation with its stored columns, thumbnails and vectors too; each
video has a schema of its own, named like the video, with a view of each relation.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from reeldb.index.archive import Archive
from reeldb.index.session import FileWriter
from reeldb.index.snapshot import Snapshot
from reeldb.index.store import quote
from reeldb.schema.errors import ArchiveError
from reeldb.schema.relations import RELATIONS, Relation

RESERVED = ("main", "temp", "system", "information_schema", "pg_catalog")
AT_ONCE = 20_000  # rows with heavy columns that are in memory at once


def export_duckdb(archive: Archive, file: str | os.PathLike[str]) -> dict[str, str]:
    """Write the file; gives video_id -> the name of its schema.

    Raises ArchiveError where the file exists or cannot be written; it appears only whole.
    """
    path = Path(file).expanduser().absolute()
    if path.exists():
        raise ArchiveError(f"{path}: there is a file already; name a new one, or remove it first")
    if not path.parent.is_dir():
        raise ArchiveError(f"{path.parent}: no such folder to export into")
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        schemas = archive.read(lambda snapshot: _write(snapshot, draft))
        draft.replace(path)
    except OSError as e:
        raise ArchiveError(f"{path}: export failed ({e.strerror})") from e
    finally:
        _remove(draft)
    return schemas


def _remove(draft: Path) -> None:
    for left in (draft, draft.with_name(f"{draft.name}.wal")):
        left.unlink(missing_ok=True)


def _write(snapshot: Snapshot, draft: Path) -> dict[str, str]:
    _remove(draft)  # of a first attempt, where the snapshot had to be taken anew
    schemas = schema_names(snapshot)
    with FileWriter(draft) as writer:
        for relation in RELATIONS.values():
            _table(writer, snapshot, relation)
        writer.execute("BEGIN")  # a commit of its own for every view takes ten times as long
        for video_id, schema in schemas.items():
            writer.execute(f"CREATE SCHEMA {quoted(schema)}")
            for relation in RELATIONS.values():
                if "video_id" in relation.by_name:
                    writer.execute(
                        f"CREATE VIEW {quoted(schema)}.{relation.name} AS "
                        f"SELECT * FROM main.{relation.name} WHERE video_id = {quote(video_id)}"
                    )
        writer.execute("COMMIT")
    return schemas


def _table(writer: FileWriter, snapshot: Snapshot, relation: Relation) -> None:
    """The relation as a table; heavy columns come a batch of rows at a time."""
    heavy = relation.names("heavy")
    kept = [c for c in relation.columns if c.kind in ("stored", "heavy")]
    columns = ", ".join(f"{quoted(c.name)} {c.type}" for c in kept)
    writer.execute(f"CREATE TABLE main.{relation.name} ({columns})")
    rows = snapshot.relation(relation.name)
    step = AT_ONCE if heavy else max(len(rows), 1)
    listed = ", ".join(quoted(c.name) for c in kept)
    for start in range(0, len(rows), step):
        some = rows.slice(start, step)
        at = np.arange(start, start + len(some))
        for name in heavy:
            some = some.append_column(name, snapshot.heavy(relation.name, name, at))
        writer.execute(f"INSERT INTO main.{relation.name} SELECT {listed} FROM incoming", some)


def schema_names(snapshot: Snapshot) -> dict[str, str]:
    """video_id -> a schema name: the video's, made unique where two would read alike.

    DuckDB's names know no case and no zero byte.
    """
    taken = {*RESERVED}
    out = {}
    for row in snapshot.videos.select(["video_id", "name"]).to_pylist():
        name = str(row["name"] or "video").replace("\0", "")
        if name.casefold() in taken or not name:
            name = f"{name} ({str(row['video_id'])[:8]})"
        if name.casefold() in taken:
            name = f"{name[:-10]} ({row['video_id']})"
        taken.add(name.casefold())
        out[str(row["video_id"])] = name
    return out


def quoted(name: str) -> str:
    """A quoted SQL identifier.

    >>> print(quoted('a "b" c'))
    "a ""b"" c"
    """
    return '"' + name.replace('"', '""') + '"'
