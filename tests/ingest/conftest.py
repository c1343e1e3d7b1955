"""What the tests of `add` share."""

from __future__ import annotations

from pathlib import Path

import pytest

from reeldb.index.archive import Archive
from tests.clips import make_clip

EMBEDDER = "fake:embedder?dim=16"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive.open(tmp_path / "archive", create=True)


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """4 s at 25 pictures a second: red 2 s, blue 1.2 s, white 0.8 s."""
    scenes = [("red", 2.0), ("blue", 1.2), ("white", 0.8)]
    return make_clip(tmp_path_factory.mktemp("clip") / "clip.mp4", scenes, sound=True)
