"""Captioners: picture groups to prose."""

from __future__ import annotations

from collections.abc import Sequence

from reeldb.models.transformers.describer import Describer
from reeldb.models.transformers.local import Local
from reeldb.models.transformers.talker import Talker
from reeldb.schema.models import CaptionRequest, Message, Reply


class TransformersCaptioner(Local):
    """Picture groups to prose: `schema.models.Captioner`."""

    can = "captions by a vision-language model on this machine"
    cannot = "be quick without a GPU; BLIP and its like read no prompt"

    def caption(self, requests: Sequence[CaptionRequest]) -> list[Reply]:
        """One reply a request. Raises ModelError where the model cannot be loaded."""
        if self.network.kind == "describer":
            return Describer(self.settings, self.network).caption(requests)
        talker = Talker(self.source, self.settings, self.network)
        return talker.reply([[Message("user", r.prompt, r.images, r.times_s)] for r in requests])
