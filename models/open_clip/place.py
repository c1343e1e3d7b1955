"""Which model an `open_clip:` address names, read from small files, without torch.

```text
open_clip:ViT-B-32/laion2b_s34b_b79k      an architecture and a tag of open_clip
open_clip:ViT-B-32//models/b32.safetensors  an architecture and a file of weights
open_clip:hf-hub:timm/ViT-B-16-SigLIP     a model on the hub
open_clip:/models/clip                    a folder with open_clip_config.json
```
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reeldb.models.torch.weights import file_digest, folder_digest
from reeldb.schema.errors import ModelError, near

CONFIG = "open_clip_config.json"
HUB = "hf-hub:"
WEIGHTS = (".safetensors", ".bin", ".pt", ".pth")


@dataclass(frozen=True, slots=True)
class Place:
    """A model: its name and weights as open_clip takes them, its config, its identity."""

    address: str
    name: str  # `ViT-B-32`, `local-dir:FOLDER` or `hf-hub:ORG/NAME`
    pretrained: str | None
    config: dict[str, Any]
    identity: str

    @property
    def dim(self) -> int:
        return int(self.config["embed_dim"])

    @property
    def image_size(self) -> tuple[int, int]:
        """(width, height) that its pictures have in the end."""
        size = self.config["vision_cfg"].get("image_size", 224)
        height, width = (size, size) if isinstance(size, int) else size
        return int(width), int(height)


def place_of(address: str, revision: str = "") -> Place:
    """The model at an address. Raises ModelError, with what is possible, where there is none."""
    rest = address.partition(":")[2].strip()
    if rest.startswith(HUB):
        found = _on_the_hub(address, rest)
    elif rest and Path(rest).expanduser().is_dir():
        found = _in_folder(address, Path(rest).expanduser().resolve(), revision)
    else:
        found = _by_architecture(address, rest, revision)
    if revision and "@" not in found.identity:
        return Place(
            address, found.name, found.pretrained, found.config, f"{found.identity}@{revision}"
        )
    return found


def _in_folder(address: str, folder: Path, revision: str) -> Place:
    path = folder / CONFIG
    if not path.is_file():
        raise ModelError(f"{address!r}: no {CONFIG} in {folder}; write ARCH/FILE for bare weights")
    config = _config(address, path)
    if not any(p.suffix in WEIGHTS for p in folder.iterdir()):
        raise ModelError(f"{address!r}: no weights (*.safetensors) in {folder}")
    identity = f"open_clip:{folder.name}@{revision or folder_digest(folder)}"
    return Place(address, f"local-dir:{folder}", None, config, identity)


def _on_the_hub(address: str, rest: str) -> Place:
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    name = rest.removeprefix(HUB)
    try:
        found = try_to_load_from_cache(name, CONFIG)
        path = found if isinstance(found, str) else hf_hub_download(name, CONFIG)
    except Exception as e:  # the hub's client has errors of many libraries
        first = str(e).strip().splitlines()[0] if str(e).strip() else type(e).__name__
        raise ModelError(
            f"{address!r} cannot be had from the hub: {first[:200]}; without a network, download "
            "it and name its folder"
        ) from e
    return Place(address, rest, None, _config(address, Path(path)), f"open_clip:{rest}")


def _by_architecture(address: str, rest: str, revision: str) -> Place:
    arch, _, pretrained = rest.partition("/")
    configs = _architectures()
    if arch not in configs:
        hint = near(arch, configs) if arch else "write open_clip:ARCH/PRETRAINED"
        raise ModelError(f"{address!r}: open_clip has no architecture {arch!r}; {hint}")
    if not pretrained:
        raise ModelError(
            f"{address!r} names no weights: write open_clip:{arch}/TAG or open_clip:{arch}/FILE"
        )
    config = json.loads(configs[arch].read_text("utf-8"))
    file = Path(pretrained).expanduser()
    if file.is_file():
        identity = f"open_clip:{arch}@{revision or file_digest(file)[:12]}"
        return Place(address, arch, str(file), config, identity)
    if "/" in pretrained or file.suffix in WEIGHTS:
        raise ModelError(f"{address!r}: there is no file {file}")
    return Place(address, arch, pretrained, config, f"open_clip:{arch}/{pretrained}")


def _architectures() -> dict[str, Path]:
    """The config files of open_clip's own architectures; finding them imports nothing."""
    spec = find_spec("open_clip")
    if spec is None or spec.origin is None:
        return {}
    return {p.stem: p for p in (Path(spec.origin).parent / "model_configs").glob("*.json")}


def _config(address: str, path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_text("utf-8"))
        config: dict[str, Any] = read["model_cfg"]
        _ = int(config["embed_dim"]), config["vision_cfg"], config["text_cfg"]
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise ModelError(f"{address!r}: {path} is no config of open_clip ({e!r})") from e
    return config
