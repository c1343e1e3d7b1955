"""Captions of single pictures and of stretches, at the addresses all strategies share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from reeldb.query.fillers.base import Batch, Work
from reeldb.query.fillers.captions import Address, Addresses, Captions
from reeldb.query.operators.grid import Picture
from reeldb.query.prompts import Prompt
from reeldb.schema.digests import caption_key
from reeldb.schema.models import CaptionRequest, Metered

if TYPE_CHECKING:
    from reeldb.schema.models import Captioner

KEPT = "kept"  # in the ledger, as far as the answer that used it knows


@dataclass(frozen=True, slots=True)
class Stretch:
    """A span of one video and the pictures that stand for it, in time order."""

    pictures: tuple[Picture, ...]
    start_s: float
    end_s: float


class StretchCaptions(Captions):
    """Captions of stretches, made as the captions of rows are: known ones from the ledger, the
    others in parallel batches, each address once among all threads and processes."""

    def __init__(
        self,
        work: Work,
        captioner: Captioner,
        kind: str,
        prompt: Prompt,
        stretches: Sequence[Stretch],
        debit: Callable[[], bool],
    ) -> None:
        self.work, self.relation, self.kind, self.prompt = work, "frames", kind, prompt
        metered = captioner.metered(debit) if isinstance(captioner, Metered) else captioner
        self.captioner = metered  # type: ignore[assignment]
        self.known = {}
        self.bought: set[str] = set()
        self.stretches = stretches
        self._addresses = Addresses(len(stretches))
        self._reused = np.zeros(len(stretches), np.bool_)

    def _address(self, row: int) -> Address:
        stretch = self.stretches[row]
        rank, times = stretch.pictures[0].rank, tuple(p.t_ms for p in stretch.pictures)
        key = caption_key(
            self.work.catalog.video(rank).content_id, times, self.prompt.text,
            self.captioner.identity, size=self.captioner.image_size,
        )  # fmt: skip
        return Address(key, rank, times, stretch.start_s, stretch.end_s)

    def request(self, row: int) -> CaptionRequest | None:
        self.bought.add(self.key(row))
        return super().request(row)

    def make_all(self) -> None:
        """Makes what is missing, as far as the budget goes; `known` holds what there is."""
        rows = list(range(len(self.stretches)))
        while rows:
            self._take_in(self.recall(rows).batch())
            rows = [r for r in rows if not self._is_known(r)]
            before = len(rows)
            if rows:
                self.make(rows)
            rows = [r for r in rows if not self._is_known(r)]
            if len(rows) == before:
                return

    def recall_recorded(self, recorded: Mapping[str, str]) -> list[str]:
        """Takes what the ledger holds of the addresses that an answer had (`recorded`: state by
        key, KEPT where the ledger should have it); gives those that it has lost."""
        keys = [self.address(r).key for r in range(len(self.stretches))]
        self.known |= {k: (None, s) for k in keys if (s := recorded.get(k, KEPT)) != KEPT}
        rows = [r for r, k in enumerate(keys) if recorded.get(k) == KEPT]
        return [keys[r] for r in self.learn_kept(rows, datetime.min)]

    def _take_in(self, batch: Batch) -> None:
        for row, text, state in zip(batch.keys, batch.values, batch.states, strict=True):
            self.known[self.address(row).key] = (text if isinstance(text, str) else None, state)
