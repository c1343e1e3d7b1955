"""Fixtures that every room's tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def _shared(folder: str) -> Path:
    place = SHARED / folder
    if not place.is_dir():
        pytest.skip(f"needs {folder} beside the checkout, which is not there")
    return place


@pytest.fixture(scope="session")
def shared_videos() -> Path:
    """The folder of real, hard and odd videos beside the checkout; skips where absent."""
    return _shared("videos")


@pytest.fixture(scope="session")
def shared_annotations() -> Path:
    """The folder of published annotation files beside the checkout; skips where absent."""
    return _shared("annotations")
