"""A model and its processor: loaded from safetensors, on the right device, and kept warm."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, Literal

from reeldb.models.config import config_path
from reeldb.models.torch.batches import Batches
from reeldb.models.torch.extras import optional
from reeldb.models.torch.hardware import Hardware, hardware
from reeldb.models.torch.settings import Settings
from reeldb.models.torch.warm import warm
from reeldb.models.torch.weights import Source
from reeldb.schema.errors import ModelError

Kind = Literal["vision", "text", "describer", "detector", "actions"]

DESCRIBERS = ("blip", "git", "vision-encoder-decoder")  # pictures in, a sentence out, no chat
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")


@dataclass(eq=False)
class Network:
    """One loaded model. `processor` is the tokenizer of a `text` model; `lock` is held while
    it works, since one batch fills the device."""

    kind: Kind
    model: Any
    processor: Any
    hardware: Hardware
    batches: Batches
    lock: Lock = field(default_factory=Lock)

    @property
    def tokenizer(self) -> Any:
        return getattr(self.processor, "tokenizer", self.processor)

    @cached_property
    def controls(self) -> list[str]:
        """The tokens that structure a prompt, longest first: no text may hold one."""
        added = self.tokenizer.added_tokens_decoder.values()
        named = {str(t) for t in added if t.special} | set(self.tokenizer.all_special_tokens)
        return sorted((t for t in named if len(t) > 2), key=lambda t: (-len(t), t))

    @property
    def context(self) -> int | None:
        """How many tokens it reads at most, its reply included; None where it does not say."""
        longest = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        return longest if isinstance(longest, int) and longest > 0 else None

    def moved(self, inputs: Any) -> dict[str, Any]:
        """The inputs on the model's device, pictures in its number type."""
        dtype = self.hardware.torch_dtype()

        def move(value: Any) -> Any:
            if isinstance(value, list):
                return [move(v) for v in value]
            if not hasattr(value, "to"):
                return value
            floats = value.is_floating_point()
            return value.to(self.hardware.device, dtype) if floats else value.to(
                self.hardware.device
            )  # fmt: skip

        return {name: move(value) for name, value in inputs.items()}


def network(source: Source, settings: Settings) -> Network:
    """The network at a source, loaded once however many roles it has.

    Raises ModelError, with the cure, where it cannot be loaded.
    """
    key = (
        source.folder or source.name, settings.revision, settings.device, settings.dtype,
        settings.trust_remote_code, settings.batch_size,
    )  # fmt: skip
    return warm(key, lambda: _load(source, settings))


def _load(source: Source, settings: Settings) -> Network:
    optional("torch", source.address)
    transformers = optional("transformers", source.address)
    check_folder(source)
    transformers.utils.logging.disable_progress_bar()  # only the command line prints
    where = hardware(settings.device, settings.dtype)
    with told(source):
        common = common_arguments(source, settings)
        config = transformers.AutoConfig.from_pretrained(**common)
        kind = _kind(config, settings, source)
        model_class, processor_class = {
            "vision": (transformers.AutoModelForImageTextToText, transformers.AutoProcessor),
            "text": (transformers.AutoModelForCausalLM, transformers.AutoTokenizer),
            "describer": (transformers.AutoModelForImageTextToText, None),
        }[kind]
        if processor_class is None:
            processor: Any = Pair(
                transformers.AutoImageProcessor.from_pretrained(**common),
                transformers.AutoTokenizer.from_pretrained(**common),
            )
        else:
            processor = processor_class.from_pretrained(**common)
        model = model_class.from_pretrained(
            **common, use_safetensors=True, dtype=where.torch_dtype()
        )
        model = model.eval().to(where.device)
    made = Network(kind, model, processor, where, Batches(settings.batch_size))
    made.tokenizer.padding_side = "left"  # replies must begin where prompts end
    if made.tokenizer.pad_token is None:
        made.tokenizer.pad_token = made.tokenizer.eos_token
    if made.model.generation_config.pad_token_id is None:
        made.model.generation_config.pad_token_id = made.tokenizer.pad_token_id
    if kind != "describer" and not getattr(made.processor, "chat_template", None):
        raise ModelError(
            f"{source.address!r} has no chat template, so it cannot be asked anything: name a "
            "model that was trained for instructions"
        )
    return made


@dataclass(frozen=True)
class Pair:
    """What a describer's pictures and words go through."""

    images: Any
    tokenizer: Any


def common_arguments(source: Source, settings: Settings) -> dict[str, Any]:
    """What every `from_pretrained` gets. Remote code is refused by name: left out, transformers
    would ask on the terminal."""
    arguments: dict[str, Any] = {
        "pretrained_model_name_or_path": str(source.folder or source.name),
        "trust_remote_code": settings.trust_remote_code,
    }
    if source.folder is None and source.revision:
        arguments["revision"] = source.revision
    return arguments


def _kind(config: Any, settings: Settings, source: Source) -> Kind:
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    )

    own = getattr(config, "auto_map", None) if settings.trust_remote_code else None
    name = config.model_type
    if name in DESCRIBERS:
        return "describer"
    if name in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES or "AutoModelForImageTextToText" in (
        own or ()
    ):
        return "vision"
    if name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES or "AutoModelForCausalLM" in (own or ()):
        return "text"
    raise ModelError(
        f"{source.address!r} is a {name}: neither a vision-language nor a chat model; name one "
        "that writes text"
    )


def check_folder(source: Source) -> None:
    """Raises ModelError where a folder holds no config, or no weights that are safe to open."""
    folder = source.folder
    if folder is None:
        return
    if not (folder / "config.json").is_file():
        raise ModelError(
            f"{source.address!r}: no config.json in {folder}; give the folder that "
            "save_pretrained or a download from the hub made"
        )
    if any(folder.glob("*.safetensors")):
        return
    pickled = sorted(p.name for p in folder.iterdir() if p.suffix in PICKLED)
    if pickled:
        raise ModelError(pickled_only(source, pickled[0]))
    raise ModelError(f"{source.address!r}: no weights (*.safetensors) in {folder}")


def pickled_only(source: Source, name: str = "pytorch_model.bin") -> str:
    """The message for weights that could run a program when opened."""
    return (
        f"{source.address!r} has its weights as {name}, which can run any program when it is "
        "opened, and no safetensors: on a machine that may, load it with transformers and "
        "save_pretrained(FOLDER), then name that folder"
    )


@contextmanager
def told(source: Source) -> Iterator[None]:
    """Turns what transformers raises while it loads into one line with the cure."""
    try:
        yield
    except ModelError:
        raise
    except (OSError, ValueError, ImportError, RuntimeError, KeyError, AttributeError) as e:
        raise ModelError(_why(str(e), source)) from e


def _why(text: str, source: Source) -> str:
    address = source.address
    if "trust_remote_code" in text:
        return (
            f"{address!r} comes with a program of its own, which is not run: if you trust it, "
            f'write ["{address}"] trust_remote_code = true in {config_path()}'
        )
    if "safetensors" in text and source.folder is None:
        return pickled_only(source)
    first = next((line.strip() for line in text.splitlines() if line.strip()), "unknown error")
    cure = "" if source.folder else "; without a network, download it and name its folder"
    return f"{address!r} cannot be loaded: {first[:300]}{cure}"
