"""What `auto` knows of a question before it chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reeldb.query.budget import MANY, Limits
from reeldb.query.expected import captions_at
from reeldb.query.strategies.auto import Facts, kind_of

if TYPE_CHECKING:
    from reeldb.query.ask import Asked
    from reeldb.query.catalog import Catalog

UNGROUNDED = "builtin:"  # vectors of these meet texts only roughly


def facts_of(catalog: Catalog, asked: Asked) -> Facts:
    """Read off the snapshot, the models and the budget; calls no model."""
    grid = asked.grid(catalog)
    shape, cast, question = asked.shape(grid), asked.cast, asked.question
    embedder = cast.models.address("embedder")
    vectors = embedder is not None and bool(catalog.snapshot.spaces())
    cached = 0.0
    if shape.scenes:
        there = _captioned(catalog, set(grid.rank.tolist()), cast.captioner().identity)
        cached = min(1.0, there / shape.scenes)
    limits = Limits.of(question.budget) if question.budget else Limits()
    calls = [n for n in (limits.calls, limits.captions) if n is not None]
    return Facts(
        kind=kind_of(question.text),
        length_s=shape.pictures * shape.step_s,
        pictures=shape.pictures,
        scenes=shape.scenes,
        videos=shape.videos,
        cached=cached,
        calls=min(calls, default=MANY),
        chat=shape.chat,
        sees=shape.chat and shape.sees,
        vectors=vectors,
        grounded=vectors and not str(embedder).startswith(UNGROUNDED),
        whole=asked.scope is None,
        choices=bool(question.choices),
    )


def _captioned(catalog: Catalog, ranks: set[int], identity: str) -> int:
    """How many scenes of these videos have a caption of this model."""
    at = captions_at(catalog, "clip", identity)
    return int(np.isin(catalog.snapshot.ranks("captions")[at], list(ranks)).sum())
