"""Entities: a versioned overlay over captions, which are never rewritten.

A version holds the entities of one video and where they are mentioned under which local name.
Removing it undoes the merging of names that made it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reeldb.index.archive import Archive
from reeldb.index.ledger import now
from reeldb.index.store import quote
from reeldb.schema.digests import digest
from reeldb.schema.errors import BindError

TABLES = ("entities", "entity_mentions")
Rows = Sequence[Mapping[str, Any]]


def put_entities(archive: Archive, video_id: str, entities: Rows, mentions: Rows) -> str:
    """Keeps a version and gives its name; the same entities and mentions again are kept once.

    Names sort by the time at which versions were made.
    """
    said = digest(video_id, repr(sorted(map(_said, entities))), repr(sorted(map(_said, mentions))))
    with archive.lock():
        rows = archive.store.read("entities", ["version"], f"video_id = {quote(video_id)}")
        for version in rows["version"].to_pylist():
            if str(version).endswith(said[:12]):
                return str(version)
        name = f"{now():%Y%m%dT%H%M%S.%f}-{said[:12]}"
        own = {"version": name, "video_id": video_id}
        archive.store.append("entity_mentions", [{**m, **own} for m in mentions])
        archive.store.append("entities", [{**e, **own} for e in entities])
    return name


def remove_entities(archive: Archive, version: str) -> int:
    """Removes a version; gives how many entities it held. Raises BindError for an unknown one."""
    where = f"version = {quote(version)}"
    with archive.lock():
        gone = archive.store.delete("entities", where)
        archive.store.delete("entity_mentions", where)
    if not gone:
        raise BindError(f"no version {version!r} of entities; SELECT version FROM entities")
    return gone


def _said(row: Mapping[str, Any]) -> str:
    return repr(sorted((k, v) for k, v in row.items() if k not in ("version", "video_id")))
