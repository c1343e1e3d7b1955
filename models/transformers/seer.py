"""Networks that look and do not talk: a detector, an action recogniser."""

from __future__ import annotations

from typing import Any, Literal

from reeldb.models.torch.batches import Batches
from reeldb.models.torch.extras import optional
from reeldb.models.torch.hardware import hardware
from reeldb.models.torch.settings import Settings
from reeldb.models.torch.warm import warm
from reeldb.models.torch.weights import Source
from reeldb.models.transformers.network import Network, check_folder, common_arguments, told
from reeldb.schema.errors import ModelError

CLASSES: dict[str, tuple[str, str]] = {  # kind -> its class in transformers, how it is called
    "detector": ("AutoModelForObjectDetection", "an object detector"),
    "actions": ("AutoModelForVideoClassification", "an action recogniser"),
}


class Seer:
    """A network of one kind that is loaded at the first call, and kept."""

    kind: Literal["detector", "actions"]
    threshold: float  # the least confidence that counts; part of the identity

    def __init__(self, source: Source, settings: Settings) -> None:
        self.address = source.address
        self.identity = f"{source.identity}, confidence from {self.threshold:g}"
        self.source, self.settings = source, settings
        self.batch_size = settings.batch_size
        self.image_size = settings.image_size
        self._network: Network | None = None

    @property
    def network(self) -> Network:
        """The loaded model. Raises ModelError, with the cure, where it cannot be loaded."""
        if self._network is None:
            key = (self.kind, self.source.folder or self.source.name, self.settings)
            self._network = warm(key, lambda: _load(self.source, self.settings, self.kind))
        return self._network

    def labels(self) -> dict[int, str]:
        """The names of the model's classes, by number."""
        return {int(i): str(name) for i, name in self.network.model.config.id2label.items()}

    def out_of_memory(self, what: str) -> str:
        return f"out of memory on {self.network.hardware.device} with one {what} alone"


def _load(source: Source, settings: Settings, kind: Literal["detector", "actions"]) -> Network:
    optional("torch", source.address)
    transformers: Any = optional("transformers", source.address)
    check_folder(source)
    transformers.utils.logging.disable_progress_bar()  # only the command line prints
    where = hardware(settings.device, settings.dtype)
    name, called = CLASSES[kind]
    with told(source):
        common = common_arguments(source, settings)
        config = transformers.AutoConfig.from_pretrained(**common)
        made = getattr(transformers, name)
        if type(config) not in made._model_mapping and not settings.trust_remote_code:
            raise ModelError(
                f"{source.address!r} is a {config.model_type}, not {called}; name one that is"
            )
        processor = transformers.AutoImageProcessor.from_pretrained(**common)
        model = made.from_pretrained(**common, use_safetensors=True, dtype=where.torch_dtype())
        model = model.eval().to(where.device)
    return Network(kind, model, processor, where, Batches(settings.batch_size))
