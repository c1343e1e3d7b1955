"""An `open_clip:` address to its embedder."""

from __future__ import annotations

from collections.abc import Mapping

from reeldb.models.config import settings_for
from reeldb.models.open_clip.embedder import OpenClip
from reeldb.models.open_clip.place import place_of
from reeldb.models.torch.extras import require
from reeldb.models.torch.settings import settings_of
from reeldb.schema.errors import ModelError
from reeldb.schema.models import Model, Role


def load(address: str, role: Role, config: Mapping[str, object]) -> Model:
    """The embedder at an address (see `place`). An empty config means the user's own.

    Opens no weights. Raises ModelError for another role, for a model that is not there, and,
    with the pip line, where open_clip is not installed.
    """
    if role not in ("embedder", "text_embedder"):
        raise ModelError(f"{address!r} cannot be the {role}: open_clip: offers embedder")
    settings = settings_of(address, config or settings_for(address))
    require(address, "torch", "open_clip")
    return OpenClip(place_of(address, settings.revision), settings)
