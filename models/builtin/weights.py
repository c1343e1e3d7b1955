"""The shipped weight files and their digests, as SOURCES.json has them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from reeldb.schema.digests import digest
from reeldb.schema.errors import ModelError

DATA = Path(__file__).parents[1] / "data"
SOURCES = "SOURCES.json"


def weight_file(name: str) -> Path:
    """The path of a shipped file. Raises ModelError where the installation lacks it."""
    path = DATA / name
    if not path.is_file():
        raise ModelError(f"{name} is missing from this installation; install reeldb again")
    return path


@cache
def recorded() -> dict[str, dict[str, object]]:
    """What SOURCES.json says of each file: its sha256, bytes, licence and sources."""
    sources = json.loads(weight_file(SOURCES).read_text("utf-8"))
    files: dict[str, dict[str, object]] = sources["files"]
    return files


def version(method: str, *names: str) -> str:
    """Eight characters that change with the method's name or with any of the named files."""
    return digest(method, *(str(recorded()[name]["sha256"]) for name in names))[:8]
