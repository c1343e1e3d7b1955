"""Fixtures of the index tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from reeldb.index.archive import Archive
from tests.archives import make_archive, synthetic_video


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """Two videos: a.mp4 with a subtitle, and b.mp4."""
    a = synthetic_video("a.mp4", subtitles=[(0.5, 1.5, "hello")])
    return make_archive(tmp_path / "archive", [a, synthetic_video("b.mp4")])
