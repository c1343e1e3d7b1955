"""The embedder of an archive: fixed by the first `add`, so that all vectors can be compared."""

from __future__ import annotations

from typing import cast

from reeldb.index.archive import Archive
from reeldb.models.registry import DEFAULTS, NONE, load
from reeldb.schema.errors import IngestError
from reeldb.schema.models import Embedder


def choose_embedder(archive: Archive, wanted: str | Embedder | None) -> Embedder | None:
    """The embedder that `add` shall use; None where the archive holds no vectors.

    `wanted` is an address, `none`, a model, or None for the archive's own or else the
    default one. Raises IngestError where the archive has another one, ModelError where there
    is no such model.
    """
    if isinstance(wanted, Embedder):
        embedder: Embedder | None = wanted
    else:
        address = wanted or _fixed(archive) or DEFAULTS["embedder"] or NONE
        refuse_other(archive, address)
        embedder = None if address == NONE else cast(Embedder, load(address, "embedder"))
    refuse_other(archive, address_of(embedder))
    spaces = archive.snapshot().spaces()
    if embedder is not None and spaces and embedder.space not in spaces:
        raise IngestError(
            f"the archive's vectors are of {', '.join(spaces)}, {embedder.address} now makes "
            f"those of {embedder.space}; `reel reindex --embedder {embedder.address}` remakes them"
        )
    return embedder


def address_of(embedder: Embedder | None) -> str:
    return NONE if embedder is None else embedder.address


def refuse_other(archive: Archive, address: str) -> None:
    """Raises IngestError where the archive has videos and another embedder."""
    fixed = _fixed(archive)
    if fixed is None or fixed == address or not archive.store.count("videos"):
        return
    cure = "its videos have no vectors" if fixed == NONE else f"leave --embedder out to use {fixed}"
    raise IngestError(
        f"the archive's embedder is {fixed}, fixed by the first add, not {address}; {cure}, or "
        f"change it for all videos with `reel reindex --embedder {address}`"
    )


def fix_embedder(archive: Archive, embedder: Embedder | None) -> None:
    """Makes it the archive's embedder. The caller holds the lock and is about to publish."""
    address = address_of(embedder)
    refuse_other(archive, address)
    if _fixed(archive) != address:
        archive.set_model("embedder", address)


def _fixed(archive: Archive) -> str | None:
    return archive.models.get("embedder")
