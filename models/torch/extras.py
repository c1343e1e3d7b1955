"""Optional packages: there, or an error with the line that installs them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from reeldb.schema.errors import ModelError


def optional(module: str, address: str, extra: str = "gpu") -> Any:
    """The module. Raises ModelError, with the pip line, where it is not installed."""
    try:
        return import_module(module)
    except ImportError as e:
        package = module.partition(".")[0]
        if e.name is not None and e.name.partition(".")[0] == package:
            why = f"needs {package}, which is not installed"
        else:
            why = f"needs {package}, which cannot be imported ({e})"
        raise ModelError(f"{address!r} {why}: pip install 'reeldb[{extra}]'") from e


def require(address: str, *packages: str, extra: str = "gpu") -> None:
    """Raises ModelError, with the pip line, where a package is not installed; imports none."""
    for package in packages:
        if find_spec(package) is None:
            why = f"needs {package}, which is not installed"
            raise ModelError(f"{address!r} {why}: pip install 'reeldb[{extra}]'")
