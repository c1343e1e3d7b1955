from __future__ import annotations

import re
import sys
import types
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import reeldb
from reeldb.models import registry
from reeldb.models.openai.endpoint import DEFAULTS
from reeldb.models.torch.settings import NAMES
from tests.clips import make_clip

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text("utf-8")


def test_the_package_in_the_docs_captions_an_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = re.search(r"```python\n(.*?)```", DOCS, re.S)
    assert block is not None
    module = types.ModuleType("reeldb_loud")
    exec(block[1], module.__dict__)
    monkeypatch.setitem(sys.modules, "reeldb_loud", module)
    point = EntryPoint("loud", "reeldb_loud:load", registry.ENTRY_POINTS)
    assert f'{point.name} = "{point.value}"' in DOCS
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    db = reeldb.open(tmp_path / "a")
    db.add(make_clip(tmp_path / "a.mp4", [("white", 2), ("black", 2)]), embedder="none")
    db.set_model("captioner", "loud:1")
    said = [row[0] for row in db.sql("SELECT caption FROM scenes ORDER BY start_s").fetchall()]
    numbers = [int(text.removeprefix("brightness ")) for text in said]
    assert numbers[0] > 240 and numbers[1] < 15


def test_every_setting_is_in_the_docs() -> None:
    words = set(re.findall(r"[a-z_]+", DOCS))
    assert {*NAMES, *DEFAULTS} <= words
