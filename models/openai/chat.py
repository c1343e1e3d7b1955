"""Chat and vision models: messages to replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reeldb.models.openai.caller import Caller
from reeldb.models.openai.speaker import Speaker
from reeldb.schema.models import Message, Reply


class OpenAIChat(Speaker):
    """Chat and vision: `schema.models.ChatModel`."""

    can = "answers and judgements by a chat model, about pictures too where it takes them"
    cannot = "work offline, unless its server does"

    def reply(
        self, messages: Sequence[Sequence[Message]], schema: str | None = None
    ) -> list[Reply]:
        """One reply a chat. Where the server has no response schema, the reply is plain text
        that may or may not keep to it. Raises ModelError (see `Speaker`)."""
        return self.converse(messages, schema)

    def metered(self, debit: Callable[[], bool]) -> OpenAIChat:
        return self._as(self.caller.metered(debit), self.temperature)

    def tempered(self, temperature: float) -> OpenAIChat:
        return self._as(self.caller, temperature)

    def _as(self, caller: Caller, temperature: float) -> OpenAIChat:
        same = OpenAIChat(self.address, self.endpoint, caller=caller)
        same.temperature = temperature
        return same
