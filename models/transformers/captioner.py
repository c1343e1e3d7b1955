"""Captioners: picture groups to prose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

from reeldb.models.ahead import gathered_ahead
from reeldb.models.transformers.describer import Describer
from reeldb.models.transformers.local import Local
from reeldb.models.transformers.talker import Talker
from reeldb.schema.models import CaptionRequest, Message, Reply


class TransformersCaptioner(Local):
    """Picture groups to prose: `schema.models.Captioner`."""

    can = "captions by a vision-language model on this machine"
    cannot = "be quick without a GPU; BLIP and its like read no prompt"

    @property
    def ahead(self) -> int:
        """The requests of the next batch, whose pictures are decoded while one is described."""
        return self.batch_size

    def stream(self, requests: Iterable[CaptionRequest]) -> Iterator[tuple[int, Reply]]:
        """The replies in order, a batch at a time, each with the place of its request. Raises
        ModelError, and what `requests` raises, after the replies before it."""
        place = 0
        with closing(gathered_ahead(requests, self.batch_size)) as batches:
            for batch in batches:
                for reply in self.caption(batch):
                    yield place, reply
                    place += 1

    def caption(self, requests: Sequence[CaptionRequest]) -> list[Reply]:
        """One reply a request. Raises ModelError where the model cannot be loaded."""
        if self.network.kind == "describer":
            return Describer(self.settings, self.network).caption(requests)
        talker = Talker(self.source, self.settings, self.network)
        return talker.reply([[Message("user", r.prompt, r.images, r.times_s)] for r in requests])
