"""The built-in adapters by address, each module imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from reeldb.schema.errors import ModelError, near
from reeldb.schema.models import Model, Role

ADAPTERS = {
    "builtin:labels": ("reeldb.models.builtin.labels", "Labels"),
    "builtin:minilm": ("reeldb.models.builtin.minilm", "MiniLM"),
    "builtin:ocr": ("reeldb.models.builtin.ocr", "Ocr"),
    "builtin:tags": ("reeldb.models.builtin.tags", "Tags"),
}


def load(address: str, role: Role, config: Mapping[str, object]) -> Model:
    """The built-in adapter. Raises ModelError for a name that is not built in."""
    if address not in ADAPTERS:
        raise ModelError(f"{address!r} is not built in; {near(address, ADAPTERS)}")
    module, name = ADAPTERS[address]
    return cast(Model, getattr(import_module(module), name)())
