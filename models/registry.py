"""Models by address: `builtin:labels`, `fake:captioner?reply=a+cat`, whatever is plugged in.

An address is `scheme:rest`. A scheme belongs to a loader, `load(address, role, config)`, named
in `LOADERS` or by an installed package under the entry point group `reeldb.models`. Making an
adapter opens no weights: that happens at its first call, so models can be listed for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from threading import Lock
from typing import cast

from reeldb.schema.errors import ModelError, near
from reeldb.schema.models import (
    ROLES,
    ActionTool,
    Captioner,
    ChatModel,
    Embedder,
    Model,
    PictureTool,
    Role,
    SpeechTool,
    TextEmbedder,
)

Config = Mapping[str, object]
Loader = Callable[[str, Role, Config], Model]

ENTRY_POINTS = "reeldb.models"
NONE = "none"
LOADERS: dict[str, str] = {
    "builtin": "reeldb.models.builtin.loader:load",
    "fake": "reeldb.models.fake:load",
    "open_clip": "reeldb.models.open_clip.loader:load",
    "openai": "reeldb.models.openai.loader:load",
    "transformers": "reeldb.models.transformers.loader:load",
    "whisper": "reeldb.models.whisper:load",
}
DEFAULTS: dict[Role, str | None] = {
    "embedder": "builtin:labels",
    "text_embedder": "builtin:minilm",
    "captioner": "builtin:tags",
    "ocr": "builtin:ocr",
    "speech": None,
    "objects": None,
    "actions": None,
    "chat": None,
    "vision": None,
}
PROTOCOLS: dict[Role, type] = {
    "embedder": Embedder,
    "text_embedder": TextEmbedder,
    "captioner": Captioner,
    "ocr": PictureTool,
    "speech": SpeechTool,
    "objects": PictureTool,
    "actions": ActionTool,
    "chat": ChatModel,
    "vision": ChatModel,
}


def loaders() -> dict[str, str]:
    """Every scheme and the `module:function` that loads it; ours win over plugged-in ones."""
    plugged = {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}
    return plugged | LOADERS


def load(address: str, role: Role, config: Config | None = None) -> Model:
    """The adapter at `address`, fit for `role`. Raises ModelError where there is none.

    `config` holds what belongs to the user and not to an archive: endpoints, key names.
    """
    if role not in PROTOCOLS:
        raise ModelError(f"{role!r} is no role of a model; {near(role, ROLES)}")
    scheme, colon, _ = address.partition(":")
    known = loaders()
    if not colon or scheme not in known:
        hint = near(scheme, known)
        raise ModelError(f"{address!r}: no models are named so; write scheme:name ({hint})")
    model = _loader(address, known[scheme])(address, role, config or {})
    if not isinstance(model, PROTOCOLS[role]):
        raise ModelError(f"{address!r} cannot be the {role}: {model.can}; name another model")
    return model


def _loader(address: str, place: str) -> Loader:
    module, _, name = place.partition(":")
    try:
        return cast(Loader, getattr(import_module(module), name))
    except (ImportError, AttributeError) as e:
        raise ModelError(f"{address!r}: its loader {place} cannot be imported: {e}") from e


class Models:
    """The models of one archive, by role, each made once and when first asked for.

    `roles` maps a role to an address, or to `none`; a role it leaves out has its default.
    `configs` maps addresses to the user's own settings for them. `allow(address, role)` is
    asked before each is loaded and raises ModelError where it may not be. Safe to share by
    threads.
    """

    def __init__(
        self,
        roles: Mapping[str, str] | None = None,
        configs: Mapping[str, Config] | None = None,
        allow: Callable[[str, str], None] | None = None,
    ) -> None:
        for role in roles or {}:
            if role not in PROTOCOLS:
                raise ModelError(f"{role!r} is no role of a model; {near(role, ROLES)}")
        self.roles: dict[Role, str | None] = {**DEFAULTS, **cast(dict[Role, str], roles or {})}
        self._configs = dict(configs or {})
        self._allow = allow
        self._made: dict[tuple[str, Role], Model] = {}
        self._lock = Lock()

    def address(self, role: Role) -> str | None:
        """The address of the role's model, or None where the role has none."""
        if role not in PROTOCOLS:
            raise ModelError(f"{role!r} is no role of a model; {near(role, ROLES)}")
        address = self.roles[role]
        return None if address == NONE else address

    def get(self, role: Role) -> Model | None:
        """The role's model, or None where the role has none."""
        address = self.address(role)
        return None if address is None else self.at(address, role)

    def at(self, address: str, role: Role) -> Model:
        """The model at an address, whichever one the role has. Raises ModelError."""
        if self._allow is not None:
            self._allow(address, role)
        with self._lock:
            if (address, role) not in self._made:
                self._made[address, role] = load(address, role, self._configs.get(address))
            return self._made[address, role]

    def need(self, role: Role) -> Model:
        """The role's model; ModelError, with the cure, where the role has none."""
        model = self.get(role)
        if model is None:
            raise ModelError(f"no {role} is set; name one: reel models set {role} ADDRESS")
        return model

    def embedder(self) -> Embedder:
        return cast(Embedder, self.need("embedder"))

    def text_embedder(self) -> TextEmbedder:
        return cast(TextEmbedder, self.need("text_embedder"))

    def captioner(self) -> Captioner:
        return cast(Captioner, self.need("captioner"))

    def ocr(self) -> PictureTool:
        return cast(PictureTool, self.need("ocr"))

    def objects(self) -> PictureTool:
        return cast(PictureTool, self.need("objects"))

    def speech(self) -> SpeechTool:
        return cast(SpeechTool, self.need("speech"))

    def actions(self) -> ActionTool:
        return cast(ActionTool, self.need("actions"))

    def chat(self) -> ChatModel:
        return cast(ChatModel, self.need("chat"))

    def vision(self) -> ChatModel:
        return cast(ChatModel, self.need("vision"))
