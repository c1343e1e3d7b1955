"""Captioners: picture groups to prose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from reeldb.models.openai.speaker import Speaker
from reeldb.schema.models import CaptionRequest, Message, Reply


class OpenAICaptioner(Speaker):
    """Picture groups to prose: `schema.models.Captioner`."""

    can = "captions by a vision-language model behind an OpenAI-compatible server"
    cannot = "work offline, unless its server does"

    @property
    def image_size(self) -> int:
        return self.endpoint.image_size

    @property
    def ahead(self) -> int:
        """None: a request is sent as soon as it is taken."""
        return 0

    def caption(self, requests: Sequence[CaptionRequest]) -> list[Reply]:
        """One reply a request. Raises ModelError (see `Speaker`)."""
        return self.converse([[Message("user", r.prompt, r.images, r.times_s)] for r in requests])

    def stream(self, requests: Iterable[CaptionRequest]) -> Iterator[tuple[int, Reply]]:
        """The replies as they come, each with the place of its request (see `Speaker.each`)."""
        chats = ([Message("user", r.prompt, r.images, r.times_s)] for r in requests)
        return self.each(chats)

    def metered(self, debit: Callable[[], bool]) -> OpenAICaptioner:
        return OpenAICaptioner(self.address, self.endpoint, caller=self.caller.metered(debit))
