"""How a benchmark's questions are asked: strategy, budget and models."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reeldb.schema.errors import EvaluationError, near
from reeldb.schema.models import ROLES

Named = tuple[tuple[str, str], ...]  # roles and addresses
_NEXT = re.compile(r",\s*(?=\w+\s*=)")


@dataclass(frozen=True, slots=True)
class Setting:
    """How the questions are asked: a strategy as USING writes it, a budget as BUDGET does, and
    models for some roles; for the others those that the archive names."""

    strategy: str
    budget: str = ""
    models: Named = ()

    @property
    def name(self) -> str:
        parts = (self.strategy, self.budget, models_text(self.models))
        return " / ".join(p for p in parts if p)


def models_of(text: str) -> Named:
    """Models by role, in the order of ROLES; nothing for an empty text. Raises EvaluationError.

    >>> models_of("vision=openai:b, captioner=openai:a")
    (('captioner', 'openai:a'), ('vision', 'openai:b'))
    """
    found: dict[str, str] = {}
    for part in _NEXT.split(text) if text.strip() else []:
        role, equals, address = (p.strip() for p in part.partition("="))
        if not equals or not address:
            raise EvaluationError(f"models {text!r}: write ROLE=ADDRESS, ROLE=ADDRESS ...")
        if role not in ROLES:
            raise EvaluationError(f"{role!r} is no role of a model; {near(role, ROLES)}")
        if role in found:
            raise EvaluationError(f"models {text!r}: {role} is named twice")
        found[role] = address
    return tuple((r, found[r]) for r in ROLES if r in found)


def models_text(models: Named) -> str:
    """What `models_of` reads."""
    return ", ".join(f"{role}={address}" for role, address in models)
