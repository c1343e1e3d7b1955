"""Where a network runs, and in which numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reeldb.schema.errors import ModelError

AUTO = "auto"
DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class Hardware:
    """A device as torch names it (`cuda`, `cuda:1`, `mps`, `cpu`) and a number type."""

    device: str
    dtype: str

    def torch_dtype(self) -> Any:
        import torch

        return getattr(torch, self.dtype)


def hardware(device: str = AUTO, dtype: str = AUTO, half: str = "bfloat16") -> Hardware:
    """What the user asks for; `auto` is the GPU where there is one, with `half` numbers there
    and float32 on the CPU, which is slower at anything else.

    `half` becomes float16 on a GPU without bfloat16. Raises ModelError for a device that this
    machine does not have.
    """
    import torch

    kind = device.partition(":")[0]
    found = available()
    if device == AUTO:
        device = kind = found[0]
    elif kind not in found or not _is_there(device):
        raise ModelError(f"device = {device!r}: this machine has {', '.join(found)}")
    if dtype != AUTO:
        return Hardware(device, dtype)
    if kind == "cpu":
        return Hardware(device, "float32")
    if half == "bfloat16" and not (kind == "cuda" and torch.cuda.is_bf16_supported()):
        half = "float16"
    return Hardware(device, half)


def available() -> tuple[str, ...]:
    """The kinds of devices of this machine, the fastest first."""
    import torch

    kinds = []
    if torch.cuda.is_available():
        kinds.append("cuda")
    if torch.backends.mps.is_available():
        kinds.append("mps")
    return (*kinds, "cpu")


def _is_there(device: str) -> bool:
    import torch

    try:
        asked = torch.device(device)
    except RuntimeError:
        return False
    return bool(asked.type != "cuda" or (asked.index or 0) < torch.cuda.device_count())
