"""What `reel models` says about each role: what is in use, and how to do better."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reeldb.models.registry import Models
from reeldb.schema.errors import ModelError
from reeldb.schema.models import ROLES, Role

NOTHING: dict[Role, str] = {
    "embedder": "pictures are not embedded: no similarity(image, ...)",
    "text_embedder": "no similarity between texts",
    "captioner": "captions are NULL",
    "ocr": "on-screen text is not read",
    "speech": "only subtitles: tracks in the file, .srt and .vtt beside it",
    "objects": "objects are not looked for",
    "actions": "actions are not looked for",
    "chat": "no matches(caption, ...); questions are answered by text similarity",
    "vision": "no matches(image, ...)",
}

BETTER: dict[Role, str] = {
    "embedder": "a model that was trained on pictures with text, such as CLIP or SigLIP",
    "text_embedder": "a larger sentence embedder",
    "captioner": "a vision-language model",
    "ocr": "a larger text reader",
    "speech": "a speech recogniser, such as whisper:base (reeldb[speech]) or openai:whisper-1",
    "objects": "an object detector, such as transformers:facebook/detr-resnet-50",
    "actions": "an action recogniser, such as "
    "transformers:MCG-NJU/videomae-base-finetuned-kinetics",
    "chat": "a chat model",
    "vision": "a vision-language model",
}


@dataclass(frozen=True, slots=True)
class Description:
    """One role: its model's address (None: no model), what it can and cannot do, the one
    line that improves it, and what is wrong with the model ('': nothing known)."""

    role: Role
    address: str | None
    can: str
    cannot: str
    improve: str
    problem: str = ""


def improvement(role: Role) -> str:
    """The one line that improves the role."""
    return f"{BETTER[role]}: reel models set {role} ADDRESS"


def describe(role: Role, models: Models | None = None) -> Description:
    """The role's model in words. Opens no weights and raises nothing but for a wrong role."""
    models = models or Models()
    address = models.address(role)
    if address is None:
        return Description(role, None, "nothing", NOTHING[role], improvement(role))
    try:
        model = models.need(role)
    except ModelError as e:
        return Description(role, address, "nothing", NOTHING[role], improvement(role), str(e))
    return Description(role, address, model.can, model.cannot, improvement(role))


def describe_all(models: Models | None = None) -> list[Description]:
    """One description a role, in the order of `schema.models.ROLES`."""
    models = models or Models()
    return [describe(role, models) for role in ROLES]


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a role's model works, and one line that says so or what is wrong."""

    role: Role
    works: bool
    says: str


def check_all(models: Models) -> Iterator[Check]:
    """One check a role that has a model. A server gets one small real request; a model of this
    machine is loaded."""
    for role in ROLES:
        address = models.address(role)
        if address is None:
            continue
        try:
            yield Check(role, True, _checked(address, role, models))
        except ModelError as e:
            yield Check(role, False, str(e))


def _checked(address: str, role: Role, models: Models) -> str:
    models.need(role)  # which is where an address that nobody set up is refused
    if address.startswith("openai:"):
        from reeldb.models.openai.loader import check

        return check(address, role)
    return f"{address} is ready: {models.need(role).can}"
