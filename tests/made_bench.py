"""A made benchmark with an archive of its videos, and models that see what is true in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import reeldb
import reeldb.models.registry
from reeldb.database import Database
from reeldb.evaluation.benchmark import Folder, Question
from reeldb.evaluation.made.make import make
from tests.made_witness import MadeWitness
from tests.seeing import SeeingServer

ROLES = ("captioner", "chat", "vision")


@dataclass(frozen=True)
class Bench:
    """The folder, and an archive that holds its videos, with no caption made yet."""

    folder: Path
    archive: Path

    def questions(self, kind: str = "") -> list[Question]:
        return [q for q in Folder(self.folder).questions() if kind in ("", q.kind)]

    def eyes(self) -> str:
        return f"seeing:{self.folder}"


def make_bench(place: Path, patch: pytest.MonkeyPatch, **how: float) -> Bench:
    """`how` goes to `make`. The scheme `seeing` stands while the patch does."""
    patch.setitem(reeldb.models.registry.LOADERS, "seeing", "tests.made_eyes:load")
    bench = Bench(place / "bench", place / "archive")
    make(bench.folder, **how)  # type: ignore[arg-type]
    db = reeldb.open(bench.archive)
    db.set_model("text_embedder", bench.eyes())
    report = db.add(bench.folder / "videos", embedder=bench.eyes())
    assert not report.failed
    return bench


@contextmanager
def asked(
    bench: Bench, place: Path, patch: pytest.MonkeyPatch
) -> Iterator[tuple[Database, SeeingServer]]:
    """A copy of the archive whose captions, chats and looks come from a witness of the truth."""
    patch.setitem(reeldb.models.registry.LOADERS, "seeing", "tests.made_eyes:load")
    patch.setenv("REELDB_CONFIG", str(place / "config.toml"))
    shutil.copytree(bench.archive, place / "asked")
    with SeeingServer(MadeWitness(bench.folder)) as server:
        (place / "config.toml").write_text(
            f'["openai:seer"]\nbase_url = "{server.url}"\nattempts = 2\nbackoff_s = 0.01\n'
            "timeout_s = 5\nconcurrency = 8\nmax_images = 64\n"
        )
        db = reeldb.open(place / "asked")
        for role in ROLES:
            db.set_model(role, "openai:seer")
        yield db, server
