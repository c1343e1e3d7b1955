"""The rows of a lazy relation, those that nobody has looked for among them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from reeldb.query.fillers.base import Batch, Keys, Work
from reeldb.query.fillers.looks import Looks


class LookRows:
    """A key is a row that stands for a look not yet taken."""

    def __init__(self, work: Work, looks: Looks) -> None:
        self.work, self.looks = work, looks
        self.size = looks.wave
        self.first_missing = 0
        self.missing = looks.missing()

    def table(self) -> pa.Table:
        self.missing = self.looks.missing()
        table = self.looks.table(self.missing)
        self.first_missing = table.num_rows - len(self.missing.rank)
        return table

    def recall(self, keys: Keys) -> Batch:
        return Batch()

    def make(self, keys: Sequence[int]) -> Batch:
        at = [k - self.first_missing for k in keys]
        places = [(int(self.missing.rank[i]), int(self.missing.number[i])) for i in at]
        self.looks.look(places)
        done = [k for k, p in zip(keys, places, strict=True) if self.looks.is_done(p)]
        return Batch(done, [True] * len(done), ["ok"] * len(done))
