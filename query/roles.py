"""Roles: who captions, searches, judges and answers in a strategy.

`USING tree(captioner => 'openai:small', reasoner => 'openai:large')` names a model for a role;
a role that is not named is played by the archive's model of the first kind that is set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from reeldb.schema.errors import BindError, near

if TYPE_CHECKING:
    from reeldb.models.registry import Models
    from reeldb.schema.models import Captioner, ChatModel, Role

ROLES: dict[str, tuple[Role, ...]] = {
    "captioner": ("captioner",),
    "interpreter": ("vision", "chat"),
    "searcher": ("chat", "vision"),
    "judge": ("chat", "vision"),
    "reasoner": ("vision", "chat"),
    "root": ("chat", "vision"),
    "sub": ("vision", "chat"),
}


class Cast:
    """The models of one question, by role. `named` maps roles to addresses.

    Raises BindError for a role that there is not.
    """

    def __init__(self, models: Models, named: Mapping[str, str]) -> None:
        self.models, self.named = models, dict(named)
        for role in named:
            if role not in ROLES:
                raise BindError(f"{role!r} is no role of a strategy; {near(role, ROLES)}")

    def captioner(self) -> Captioner:
        if "captioner" in self.named:
            return cast("Captioner", self._load(self.named["captioner"], "captioner"))
        return self.models.captioner()

    def model(self, role: str) -> ChatModel:
        """The role's chat or vision model. Raises BindError, with the cure, where none is set."""
        kind = self._kind(role)
        if role in self.named:
            return cast("ChatModel", self._load(self.named[role], kind or "vision"))
        if kind is None:
            one = " or ".join(ROLES[role])
            raise BindError(
                f"the {role} needs a {one} model and none is set; name one: "
                f"reel models set {ROLES[role][0]} ADDRESS, or USING name({role} => 'ADDRESS')"
            )
        return cast("ChatModel", self.models.need(kind))

    def has(self, role: str) -> bool:
        return self._kind(role) is not None

    def sees(self, role: str) -> bool:
        """Whether the role's model is one that takes pictures."""
        return self._kind(role) == "vision"

    def address(self, role: str) -> str | None:
        """The address of the role's model, None where it has none."""
        kind = self._kind(role)
        return self.named.get(role) or (None if kind is None else self.models.address(kind))

    def _kind(self, role: str) -> Role | None:
        """What the role's model is: the archive's text-only chat model stays one when named."""
        if role in self.named:
            only_chat = self.named[role] == self.models.address("chat")
            return "chat" if only_chat and self.named[role] != self.models.address("vision") else (
                "vision"
            )  # fmt: skip
        return next((kind for kind in ROLES[role] if self.models.address(kind) is not None), None)

    def _load(self, address: str, kind: Role) -> object:
        from reeldb.models.registry import load

        if address == self.models.address(kind):
            return self.models.need(kind)
        return load(address, kind)
