"""Where an `openai:` address is reached, with which key, within which limits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from ipaddress import ip_address
from urllib.parse import urlsplit

from reeldb.models.config import PRICE, check_base_url
from reeldb.schema.errors import ModelError, near

OPENAI = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"
BASE_URL = "OPENAI_BASE_URL"
NO_KEY = "no-key"  # what a server that wants none is sent

_RANGES: dict[str, tuple[float, float]] = {
    "image_size": (32, 8192),
    "max_images": (1, 10_000),
    "concurrency": (1, 1024),
    "timeout_s": (0.05, 86_400),
    "requests_per_minute": (0, 1e9),
    "max_tokens": (0, 10_000_000),
    "attempts": (1, 100),
    "backoff_s": (0, 3600),
    "max_wait_s": (0, 86_400),
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Settings of one address; raises ModelError, naming the setting, where one makes no sense.

    `key_env` names the variable with the key: '' is no key, None is OPENAI_API_KEY, or no key
    for a local server. Pictures go out at `image_size` pixels on the longest side, at most
    `max_images` a request; requests run at most `concurrency` at once on the server and
    `requests_per_minute` (0: no limit), each for at most `timeout_s`. A request is tried
    `attempts` times with pauses that grow from `backoff_s`, or as long as the server asks,
    at most `max_wait_s` in all. `max_tokens` 0 leaves the length to the server. `revision`
    is part of the identity: set another one to have everything asked anew.
    """

    base_url: str = OPENAI
    key_env: str | None = None
    revision: str = ""
    image_size: int = 768
    max_images: int = 64
    concurrency: int = 8
    timeout_s: float = 120.0
    requests_per_minute: float = 0.0
    max_tokens: int = 0
    attempts: int = 6
    backoff_s: float = 0.5
    max_wait_s: float = 600.0

    def __post_init__(self) -> None:
        for name in ("base_url", "revision"):
            if not isinstance(getattr(self, name), str):
                raise ModelError(f"{name} = {getattr(self, name)!r}: give a text")
        if not isinstance(self.key_env, str | None):
            raise ModelError("key_env: give the name of an environment variable")
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            whole = isinstance(DEFAULTS[name], int)
            fits = isinstance(value, int if whole else int | float) and low <= value <= high
            if isinstance(value, bool) or not fits:
                kind = "whole number" if whole else "number"
                raise ModelError(f"{name} = {value!r}: give a {kind} from {low:g} to {high:g}")
        check_base_url(self.base_url)

    @property
    def local(self) -> bool:
        """Whether the server is this machine or on the local network."""
        host = (urlsplit(self.base_url).hostname or "").lower()
        try:
            return ip_address(host).is_private
        except ValueError:
            return "." not in host or host.endswith((".localhost", ".local", ".internal"))

    def key(self, environ: Mapping[str, str] | None = None) -> str:
        """The key to send, `NO_KEY` where none is wanted. Raises ModelError where it is missing.

        A local server gets a key only if `key_env` says so: yours for OpenAI is not for it.
        """
        name = self.key_env if self.key_env is not None else ("" if self.local else KEY)
        if not name:
            return NO_KEY
        key = (os.environ if environ is None else environ).get(name, "").strip()
        if not key:
            raise ModelError(
                f"no key for {self.base_url}: set the environment variable {name}, or name "
                "another one with key_env in the config"
            )
        if not (key.isascii() and key.isprintable()):
            raise ModelError(f"the key in {name} has characters that no key has; set it again")
        if not self.local and self.base_url.startswith("http:"):
            raise ModelError(f"{self.base_url} would get the key unencrypted; use https")
        return key


DEFAULTS = {f.name: f.default for f in fields(Endpoint)}


def endpoint_of(
    address: str, config: Mapping[str, object], environ: Mapping[str, str] | None = None
) -> Endpoint:
    """The endpoint that the user's settings for an address give.

    The base URL is the settings', else `OPENAI_BASE_URL`, else OpenAI's. Raises ModelError
    for an unknown or senseless setting.
    """
    environ = os.environ if environ is None else environ
    config = {name: value for name, value in config.items() if name != PRICE}
    for name in config:
        if name not in DEFAULTS:
            raise ModelError(f"{address!r}: no setting {name}; {near(name, DEFAULTS)}")
    base_url = config.get("base_url") or environ.get(BASE_URL) or OPENAI
    settings = {**config, "base_url": base_url}
    if isinstance(base_url, str):
        settings["base_url"] = base_url.strip().rstrip("/")
    try:
        return Endpoint(**settings)  # type: ignore[arg-type]
    except ModelError as e:
        raise ModelError(f"{address!r}: {e}") from None
