"""A tiny CLIP, saved as open_clip saves one, and one that has learned colours in seconds.

Torch is needed to call these, not to import them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

SIDE = 32
CONFIG: dict[str, Any] = {
    "embed_dim": 32,
    "vision_cfg": {
        "image_size": SIDE, "layers": 1, "width": 32, "patch_size": 16, "head_width": 16,
    },
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 1},
}  # fmt: skip
SIGLIP: dict[str, Any] = {
    "embed_dim": 192,
    "init_logit_bias": -10,
    "custom_text": True,
    "vision_cfg": {
        "image_size": 224, "timm_model_name": "vit_tiny_patch16_224",
        "timm_pool": "map", "timm_proj": "none",
    },
    "text_cfg": {
        "context_length": 16, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 1,
        "no_causal_mask": True, "proj_bias": True, "pool_type": "last",
    },
}  # fmt: skip
COLOURS = {
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "white": (255, 255, 255),
    "black": (0, 0, 0),
}


def new_model(seed: int = 0) -> Any:
    """Random weights, the same each time."""
    import torch
    from open_clip.model import CLIP

    torch.manual_seed(seed)
    torch.set_num_threads(1)  # so small: more threads only wait for each other
    return CLIP(**CONFIG)


def siglip(folder: Path) -> Path:
    """A SigLIP: timm's vision transformer with attention pooling, text that sees both ways."""
    import torch
    from open_clip.model import CustomTextCLIP

    torch.manual_seed(0)
    model = CustomTextCLIP(**{n: v for n, v in SIGLIP.items() if n != "custom_text"})
    half = [0.5, 0.5, 0.5]
    return _saved(folder, model, SIGLIP, mean=half, std=half, resize_mode="squash")


def clip(folder: Path, model: Any | None = None, **preprocess: object) -> Path:
    """A folder with the config and the weights."""
    return _saved(folder, model or new_model(), CONFIG, **preprocess)


def _saved(folder: Path, model: Any, model_cfg: dict[str, Any], **preprocess: object) -> Path:
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    tensors = model.state_dict()
    save_file(
        {n: t.contiguous() for n, t in tensors.items()}, folder / "open_clip_model.safetensors"
    )
    config = {"model_cfg": model_cfg, "preprocess_cfg": preprocess}
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    return folder


def taught(steps: int = 60) -> Any:
    """A model that has learned which of six colours goes with which word."""
    import torch
    from open_clip import SimpleTokenizer
    from open_clip.transform import PreprocessCfg, image_transform_v2
    from PIL import Image

    model = new_model()
    tokens = SimpleTokenizer(context_length=16)([f"a {name} picture" for name in COLOURS])
    prepare = image_transform_v2(PreprocessCfg(size=SIDE), is_train=False)
    flat = [np.full((SIDE, SIDE, 3), rgb, np.uint8) for rgb in COLOURS.values()]
    pixels = torch.stack([prepare(Image.fromarray(f)) for f in flat])
    wanted = torch.arange(len(COLOURS))
    learner = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(steps):
        noisy = pixels + 0.1 * torch.randn_like(pixels)
        images = model.encode_image(noisy, normalize=True)
        texts = model.encode_text(tokens, normalize=True)
        logits = 10 * images @ texts.T
        loss = torch.nn.functional.cross_entropy(logits, wanted)
        loss = loss + torch.nn.functional.cross_entropy(logits.T, wanted)
        learner.zero_grad()
        loss.backward()
        learner.step()
    return model.eval()
