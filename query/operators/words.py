"""What the archive already holds of on-screen text and speech at the moment of a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reeldb.query.catalog import Catalog
from reeldb.query.operators.grid import Picture


def stored_words(catalog: Catalog, pictures: Sequence[Picture]) -> list[tuple[str, str]]:
    """(on screen, spoken) for each picture, '' where nothing is on record. Reads no file."""
    seen, heard = _Lines(catalog, "ocr", "t_s"), _Lines(catalog, "speech", "start_s")
    return [(seen.at(p), heard.at(p)) for p in pictures]


class _Lines:
    """The lines of a relation, found by video and time."""

    def __init__(self, catalog: Catalog, relation: str, start: str) -> None:
        table = catalog.snapshot.relation(relation)
        self._rank = catalog.snapshot.ranks(relation)
        self._start_s = table[start].to_numpy()
        self._end_s = table["end_s"].to_numpy() if "end_s" in table.column_names else None
        self._text = table["text"]

    def at(self, picture: Picture) -> str:
        first, last = np.searchsorted(self._rank, [picture.rank, picture.rank + 1])
        start_s = self._start_s[first:last]
        if self._end_s is None:
            mine = start_s == picture.t_s
        else:
            mine = (start_s <= picture.t_s) & (picture.t_s < self._end_s[first:last])
        rows = first + np.flatnonzero(mine)
        return " ".join(str(self._text[int(r)].as_py()) for r in rows)
