"""A loaded open_clip model with its preprocessing and its tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from reeldb.models.open_clip.place import Place
from reeldb.models.torch.batches import Batches
from reeldb.models.torch.extras import optional
from reeldb.models.torch.hardware import Hardware, hardware
from reeldb.models.torch.settings import Settings
from reeldb.models.torch.warm import warm
from reeldb.schema.errors import ModelError

PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


@dataclass(eq=False)
class Network:
    """`prepare` makes a tensor of a PIL picture, as the model's own config says; `lock` is held
    while it works."""

    model: Any
    prepare: Callable[[Any], Any]
    tokenizer: Any
    hardware: Hardware
    images: Batches
    texts: Batches
    lock: Lock = field(default_factory=Lock)

    @property
    def preprocess(self) -> dict[str, Any]:
        """Size, mean, resizing and the like, as the model was trained."""
        config: dict[str, Any] = self.model.visual.preprocess_cfg
        return config

    @property
    def context(self) -> int:
        """How many tokens of a text it reads, its end marks included."""
        return int(self.tokenizer.context_length)

    def tokens(self, text: str) -> int:
        """How many tokens the text has, with its end marks, however many that are."""
        inner = getattr(self.tokenizer, "tokenizer", None)
        if inner is None:
            return len(self.tokenizer.encode(text)) + 2
        return len(inner(text, truncation=False).input_ids)


def network(place: Place, settings: Settings) -> Network:
    """The network at a place, loaded once. Raises ModelError where it cannot be loaded."""
    key = (place.name, place.pretrained, place.identity, settings)
    return warm(key, lambda: _load(place, settings))


def _load(place: Place, settings: Settings) -> Network:
    optional("torch", place.address)
    open_clip = optional("open_clip", place.address)
    where = hardware(settings.device, settings.dtype, half="float16")
    try:
        model, _, prepare = open_clip.create_model_and_transforms(
            place.name,
            place.pretrained,
            precision=PRECISIONS[where.dtype],
            device=where.device,
            force_quick_gelu=_quick_gelu(open_clip, place),
            require_pretrained=True,
            weights_only=True,  # a pickle may hold tensors, and nothing that runs
        )
        tokenizer = open_clip.get_tokenizer(place.name)
    except TypeError:
        raise
    except Exception as e:  # open_clip raises what torch, the hub and the tokenizers do
        first = next((x.strip() for x in str(e).splitlines() if x.strip()), type(e).__name__)
        raise ModelError(
            f"{place.address!r} cannot be loaded: {first[:300]}; without a network, name a folder "
            "or a file of weights"
        ) from e
    size = settings.batch_size
    return Network(model.eval(), prepare, tokenizer, where, Batches(size), Batches(size))


def _quick_gelu(open_clip: Any, place: Place) -> bool:
    """Whether the weights were trained with QuickGELU, which the architecture's name may not
    say: OpenAI's were, and with another activation their vectors are worse."""
    if place.pretrained is None:
        return False
    tag = open_clip.get_pretrained_cfg(place.name, place.pretrained) or {}
    return bool(tag.get("quick_gelu"))
