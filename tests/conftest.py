"""Fixtures that every room's tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from reeldb.database import Database
    from tests.made_bench import Bench
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


@pytest.fixture(scope="session")
def ten_minutes(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A made video of ten minutes with twenty questions, indexed; copy it with `asked`."""
    from tests.made_bench import make_bench

    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("ten minutes")
        return make_bench(place, patch, videos=1, minutes=10, questions=20)


@pytest.fixture
def truthful(
    ten_minutes: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Database, SeeingServer]]:
    """A database of `ten_minutes` whose models say what is true of what they are shown."""
    from tests.made_bench import asked

    with asked(ten_minutes, tmp_path, monkeypatch) as both:
        yield both
