"""What this machine's GPU does with a captioner: `gpu_check.py [FOLDER] [--captions N]`.

Without a folder it makes a vision-language model of random weights, so it needs no network: its
captions are noise and its speed is that of its size. Says what it did not check.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the tests' tiny models

from reeldb.models.registry import load
from reeldb.models.transformers.captioner import TransformersCaptioner
from reeldb.schema.errors import ReelError
from reeldb.schema.models import CaptionRequest


def main(folder: Path, captions: int, random: bool, max_tokens: int = 32) -> None:
    """Prints device, number type, captions a second, batched and one by one, how long the model
    stood idle meanwhile, and whether a batch that is too large is halved."""
    import torch

    address = f"transformers:{folder}"
    model = load(address, "captioner", {"max_tokens": max_tokens, "batch_size": 32})
    assert isinstance(model, TransformersCaptioner)
    network = model.network
    where = network.hardware
    name = torch.cuda.get_device_name() if where.device.startswith("cuda") else "no GPU"
    millions = sum(p.numel() for p in network.model.parameters()) / 1e6
    print(f"{name}: {where.device}, {where.dtype}, {millions:.0f} million numbers in the model")
    rng = np.random.default_rng(0)
    requests = [
        CaptionRequest([rng.integers(0, 255, (180, 320, 3), dtype=np.uint8)], [0.0], "describe")
        for _ in range(captions)
    ]
    model.caption(requests[:2])  # the first run compiles and allocates
    batched, idle = timed_with_idle(model, requests)
    few = requests[: max(1, captions // 8)]
    single = timed(lambda: [model.caption([r]) for r in few])
    rate, alone = captions / batched, len(few) / single
    print(f"{captions} captions of up to {max_tokens} tokens: {rate:.1f} a second, one by one "
          f"{alone:.1f}; idle for {idle:.0%} of the time")  # fmt: skip
    if where.device.startswith("cuda"):
        print(f"most memory held: {torch.cuda.max_memory_allocated() / 1e9:.1f} GB")
    print(halving(model, requests[:8]))
    not_checked = ["whether captions are right", "several GPUs"]
    if random:
        not_checked.insert(0, "a real model: weights were random")
    if not where.device.startswith("cuda"):
        not_checked.insert(0, "a GPU: there is none here, all of this ran on the CPU")
    print(f"not checked: {'; '.join(not_checked)}")


def timed_with_idle(
    model: TransformersCaptioner, requests: list[CaptionRequest]
) -> tuple[float, float]:
    """Seconds that the captions take, and the share of them in which the model generates
    nothing: pictures are prepared, replies are read."""
    import torch

    own, busy = model.network.model.generate, []

    def watched(**inputs: Any) -> Any:
        began = time.perf_counter()
        out = own(**inputs)
        if model.network.hardware.device.startswith("cuda"):
            torch.cuda.synchronize()
        busy.append(time.perf_counter() - began)
        return out

    model.network.model.generate = watched
    try:
        seconds = timed(lambda: model.caption(requests))
    finally:
        model.network.model.generate = own
    return seconds, 1 - sum(busy) / seconds


def halving(model: TransformersCaptioner, requests: list[CaptionRequest]) -> str:
    """One line on what happens when memory runs out (the error is raised on purpose)."""
    import torch

    own, sizes = model.network.model.generate, []

    def tight(**inputs: Any) -> Any:
        sizes.append(len(inputs["input_ids"]))
        if sizes[-1] > 2:
            raise torch.OutOfMemoryError("out of memory, on purpose")
        return own(**inputs)

    model.network.model.generate = tight
    try:
        replies = model.caption(requests)
    finally:
        model.network.model.generate = own
    lost = sum(r.status == "failed" for r in replies)
    return f"out of memory, raised on purpose above 2 at once: batches of {sizes}, {lost} lost"


def timed(work: Any) -> float:
    """Seconds that the work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--captions", type=int, default=512)
    args = parser.parse_args()
    try:
        if args.folder:
            main(args.folder, args.captions, random=False)
        else:
            from reeldb.models.torch.hardware import available
            from tests.models.tiny import qwen_vl

            scale, layers = (1, 2) if available() == ("cpu",) else (64, 24)
            with tempfile.TemporaryDirectory() as place:
                made = qwen_vl(Path(place) / "random", scale, layers)
                main(made, args.captions, random=True)
    except ReelError as error:
        sys.exit(f"gpu_check: {error}")
