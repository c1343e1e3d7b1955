"""Where the vectors of one embedding space are stored."""

from __future__ import annotations

import re

from reeldb.schema.digests import digest

EMBEDDINGS = "embeddings_"


def space_table(space: str) -> str:
    """The table of a space: readable, safe as a file name, and different for every space.

    >>> space_table("open_clip:ViT-B-32/laion2b")
    'embeddings_open_clip_vit_b_32_laion2b_5fe0b1c4'
    """
    readable = re.sub(r"[^a-z0-9]+", "_", space.lower()).strip("_")[:40]
    return f"{EMBEDDINGS}{readable}_{digest(space)[:8]}"
