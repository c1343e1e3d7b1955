"""Libraries that one measure needs each: imported on use, missed with the cure."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from reeldb.schema.errors import EvaluationError


def library(module: str, package: str) -> ModuleType:
    """The module. Raises EvaluationError where its package is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise EvaluationError(
            f"this measure needs the package {package}: pip install 'reeldb[eval]'"
        ) from error
