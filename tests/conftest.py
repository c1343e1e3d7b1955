"""Fixtures that every room's tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.seeing import SeeingServer

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


@pytest.fixture
def seeing() -> Iterator[SeeingServer]:
    """An OpenAI-compatible server that looks at the pictures it is sent."""
    from tests.seeing import SeeingServer

    with SeeingServer() as server:
        yield server
