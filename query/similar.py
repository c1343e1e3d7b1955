"""`similarity(image, ...)`: cosines of all pictures with a text or a picture, at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from reeldb.index.snapshot import Snapshot
from reeldb.models.registry import Models
from reeldb.query.units import Unit
from reeldb.schema.errors import BindError, ModelError, near
from reeldb.schema.models import Embedder, wanted_size

if TYPE_CHECKING:
    from reeldb.index.vectors import VectorSearch


class Similarity:
    """Scores of one snapshot, in the space of the embedder in use."""

    def __init__(self, snapshot: Snapshot, models: Models, space: str | None) -> None:
        self.snapshot, self.models, self.space = snapshot, models, space

    def scores(self, unit: Unit, values: Mapping[str, object]) -> NDArray[np.float32]:
        """A cosine for every row of the relation; NaN where it has no vector.

        Raises BindError where the archive has no vectors of the embedder's space.
        """
        if not self.snapshot.relation(unit.relation).num_rows:
            return np.zeros(0, np.float32)
        search, query = self._search(unit, values)
        return np.asarray(search.scores_for(unit.relation, query), np.float32)

    def has_vectors(self) -> bool:
        """Whether there are vectors of the embedder in use."""
        if self.models.address("embedder") is None:
            return False
        return self.embedder().space in self.snapshot.spaces()

    def of_frames(self, text: str) -> NDArray[np.float32]:
        """The cosine of every row of frames with a text; NaN where it has no vector."""
        return self.scores(Unit("frames", "similarity", "image", text), {})

    def vectors_of_frames(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of these rows of frames, which all have one: shape (rows, dim)."""
        from reeldb.index.vectors import VectorSearch

        search = VectorSearch(self.snapshot, self.embedder().space)
        return np.asarray(search.matrix.vectors[search.rows_for("frames")[rows]], np.float32)

    def top(
        self,
        unit: Unit,
        values: Mapping[str, object],
        rows: int,
        within: NDArray[np.int64] | None,
        how: str,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]] | None:
        """Row numbers of the best rows, ascending, and their cosines.

        `how` is exact, ann, or auto: ann beyond two million vectors. None where too few rows have
        a vector, so that some without one may come up.
        """
        from reeldb.index.vectors import ANN_ROWS

        every = self.snapshot.relation(unit.relation).num_rows
        candidates = every if within is None else len(within)
        if not candidates:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        search, query = self._search(unit, values)
        ann = how == "ann" or (how == "auto" and len(search.matrix.t_s) > ANN_ROWS)
        found, scores = search.top(query, rows, within, unit.relation, ann)
        if len(found) < min(rows, candidates):
            return None
        order = np.argsort(found)
        return found[order], scores[order]

    def _search(
        self, unit: Unit, values: Mapping[str, object]
    ) -> tuple[VectorSearch, NDArray[np.float32]]:
        search = self.vectors()
        return search, self._query(self.embedder(), unit, values)

    def vectors(self) -> VectorSearch:
        """The vectors of the embedder's space. Raises BindError where there are none."""
        from reeldb.index.vectors import VectorSearch

        embedder = self.embedder()
        if embedder.space not in self.snapshot.spaces():
            raise BindError(self._why_not(embedder))
        return VectorSearch(self.snapshot, embedder.space)

    def embedder(self) -> Embedder:
        """The model of the role, or the one that `SET embedder` names by address or space.

        Raises BindError where the archive has no vectors of the one that it names.
        """
        own = self.models.address("embedder")
        if self.space is None or self.space == own:
            return self.models.embedder()
        spaces = self.snapshot.spaces()
        # a space is an address and, often, a revision or digest behind an @
        for address in dict.fromkeys([self.space, self.space.rpartition("@")[0], own or ""]):
            if (found := self._at(address)) is not None:
                known = self.space in (found.space, found.address)
                if known and (found.space in spaces or address == own):
                    return found
        raise BindError(
            f"SET embedder = {self.space!r}: the archive has no vectors of it; "
            f"{near(self.space, [*spaces, *([own] if own else [])])} "
            f"`reel reindex --embedder {self.space}` makes them"
        )

    def _at(self, address: str) -> Embedder | None:
        """The embedder at an address, if there is one."""
        try:
            return cast(Embedder, self.models.at(address, "embedder")) if address else None
        except ModelError:
            return None

    def _why_not(self, embedder: Embedder) -> str:
        there = sorted(self.snapshot.spaces())
        if not there:
            return "similarity(image, ...): the archive has no vectors; add without --embedder none"
        return (
            f"similarity(image, ...): the archive has vectors of {', '.join(there)}, none of "
            f"{embedder.space}; set the embedder to the one that made them, or reindex"
        )

    def _query(
        self, embedder: Embedder, unit: Unit, values: Mapping[str, object]
    ) -> NDArray[np.float32]:
        if not unit.parameter:
            return np.asarray(embedder.embed_texts([unit.text])[0], np.float32)
        image = picture_of(values[unit.parameter], unit.parameter)
        vector = np.asarray(embedder.embed_images([_resized(image, embedder)])[0], np.float32)
        if not np.isfinite(vector).all():
            raise BindError(f"${unit.parameter}: the embedder has no vector for this picture")
        return vector


def picture_of(value: object, name: str) -> NDArray[np.uint8]:
    """A bound picture: an RGB array of shape (height, width, 3), or the bytes of a file."""
    if isinstance(value, bytes | bytearray | memoryview):
        from reeldb.media.jpeg import decode_jpeg

        return np.asarray(decode_jpeg(bytes(value)), np.uint8)
    array = np.asarray(value)
    if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8 or not array.size:
        raise BindError(
            f"${name}: a picture is the bytes of a JPEG or an RGB uint8 array of shape "
            f"(height, width, 3), not {array.dtype} of shape {array.shape}"
        )
    return array


def _resized(image: NDArray[np.uint8], embedder: Embedder) -> NDArray[np.uint8]:
    import cv2

    size = wanted_size(embedder, image.shape[1], image.shape[0])
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))
