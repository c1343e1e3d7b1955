"""Which reasoner answers: the one asked for, else the one that the models allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reeldb.query.reasoners.protocol import Reasoner
    from reeldb.query.roles import Cast
    from reeldb.query.task import Task


def reasoner_for(cast: Cast, wanted: str | None) -> str:
    """`chat` where a chat or vision model is set, else `embedding`; or what was asked for.

    Raises BindError where `chat` was asked for and no such model is set.
    """
    if wanted == "chat":
        cast.model("reasoner")
    return wanted or ("chat" if cast.has("reasoner") else "embedding")


def made(name: str, task: Task, *, summary: bool = False) -> Reasoner:
    if name == "chat":
        from reeldb.query.reasoners.chat import ChatReasoner

        return ChatReasoner(task)
    if summary:
        from reeldb.query.reasoners.extract import ExtractiveReasoner

        return ExtractiveReasoner(task)
    from reeldb.query.reasoners.embedding import EmbeddingReasoner

    return EmbeddingReasoner(task)
