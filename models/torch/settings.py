"""The user's settings for one address, whichever adapter reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from reeldb.models.torch.hardware import AUTO, DTYPES
from reeldb.schema.errors import ModelError, near

_RANGES: dict[str, tuple[int, int]] = {
    "batch_size": (1, 4096),
    "max_tokens": (1, 1_000_000),
    "image_size": (32, 8192),
    "max_images": (1, 10_000),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Raises ModelError, naming the setting, where one makes no sense.

    `device` and `dtype` are `auto` or as torch names them. `revision` is a branch, tag or
    commit of a hub name, or any word for a folder; it is part of the identity. At most
    `batch_size` requests run at once; pictures are decoded to `image_size` pixels on the
    longest side, at most `max_images` a request; a reply has at most `max_tokens`.
    `trust_remote_code` runs the program that comes with the weights.
    """

    device: str = AUTO
    dtype: str = AUTO
    revision: str = ""
    batch_size: int = 16
    max_tokens: int = 512
    image_size: int = 768
    max_images: int = 64
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        for name in ("device", "dtype", "revision"):
            if not isinstance(getattr(self, name), str):
                raise ModelError(f"{name} = {getattr(self, name)!r}: give a text")
        if self.dtype != AUTO and self.dtype not in DTYPES:
            raise ModelError(f"dtype = {self.dtype!r}: give {AUTO}, {', '.join(DTYPES)}")
        if not isinstance(self.trust_remote_code, bool):
            raise ModelError(f"trust_remote_code = {self.trust_remote_code!r}: give true or false")
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise ModelError(f"{name} = {value!r}: give a whole number from {low} to {high}")


NAMES = tuple(f.name for f in fields(Settings))


def settings_of(address: str, config: Mapping[str, object]) -> Settings:
    """The settings in the user's config for an address. Raises ModelError for an unknown or
    senseless one."""
    for name in config:
        if name not in NAMES:
            raise ModelError(f"{address!r}: no setting {name}; {near(name, NAMES)}")
    try:
        return Settings(**config)  # type: ignore[arg-type]
    except ModelError as e:
        raise ModelError(f"{address!r}: {e}") from None
