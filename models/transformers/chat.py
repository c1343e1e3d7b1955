"""Chat and vision models: messages to replies."""

from __future__ import annotations

from collections.abc import Sequence

from reeldb.models.transformers.local import Local
from reeldb.models.transformers.talker import Talker
from reeldb.schema.models import Message, Reply


class TransformersChat(Local):
    """Chat and vision: `schema.models.ChatModel`."""

    can = "answers and judgements by a chat model on this machine, about pictures if it takes them"
    cannot = "be quick without a GPU; JSON is asked for in words and may not come"

    def reply(
        self, messages: Sequence[Sequence[Message]], schema: str | None = None
    ) -> list[Reply]:
        """One reply a chat. Raises ModelError where the model cannot be loaded, or is shown
        pictures and takes none."""
        return Talker(self.source, self.settings, self.network).reply(messages, schema)
