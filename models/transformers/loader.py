"""A `transformers:` address to its adapter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import cast

from reeldb.models.config import settings_for
from reeldb.models.torch.extras import require
from reeldb.models.torch.settings import settings_of
from reeldb.models.torch.weights import source_of
from reeldb.schema.errors import ModelError
from reeldb.schema.models import Model, Role

ADAPTERS: dict[Role, str] = {
    "captioner": "reeldb.models.transformers.captioner:TransformersCaptioner",
    "chat": "reeldb.models.transformers.chat:TransformersChat",
    "vision": "reeldb.models.transformers.chat:TransformersChat",
    "objects": "reeldb.models.transformers.objects:TransformersObjects",
    "actions": "reeldb.models.transformers.actions:TransformersActions",
}


def load(address: str, role: Role, config: Mapping[str, object]) -> Model:
    """The adapter at `transformers:NAME_OR_FOLDER`, called with (source, settings). An empty
    config means the user's own (`models.config`).

    Opens no weights. Raises ModelError for a role that it has no adapter for, a senseless
    setting, a folder that is not there, and, with the pip line, without transformers.
    """
    if role not in ADAPTERS:
        able = ", ".join(ADAPTERS)
        raise ModelError(f"{address!r} cannot be the {role}: transformers: offers {able}")
    require(address, "torch", "transformers")
    settings = settings_of(address, config or settings_for(address))
    module, _, name = ADAPTERS[role].partition(":")
    make = cast(Callable[..., Model], getattr(import_module(module), name))
    return make(source_of(address, settings.revision), settings)
