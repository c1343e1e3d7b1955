"""The layout itself: links, surface, what an import costs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import reeldb

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("index", "ingest", "media", "models", "query", "schema")


@pytest.mark.parametrize("room", ["cli.py", *ROOMS])
def test_rooms_are_linked(room: str) -> None:
    assert (ROOT / "reeldb" / room).resolve() == ROOT / room


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_says_what_it_is(room: str) -> None:
    about = importlib.import_module(f"reeldb.{room}").__doc__ or ""
    assert "Enters" in about and "Leaves" in about and "May import" in about
    assert 5 <= len(about.splitlines()) <= 15


def test_the_surface_is_exact() -> None:
    assert sorted(reeldb.__all__) == ["Database", "ReelError", "Settings", "open"]
    assert all(getattr(reeldb, name) for name in reeldb.__all__)


def test_importing_reeldb_imports_nothing_heavy() -> None:
    heavy = [
        "torch",
        "transformers",
        "lancedb",
        "lance",
        "duckdb",
        "pyarrow",
        "numpy",
        "av",
        "cv2",
        "onnxruntime",
    ]
    code = f"import sys, reeldb, reeldb.cli; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_every_example_in_a_docstring_is_true() -> None:
    tried = 0
    for module in pkgutil.walk_packages(reeldb.__path__, "reeldb."):
        if module.name.endswith("__main__"):
            continue
        result = doctest.testmod(importlib.import_module(module.name))
        assert result.failed == 0, module.name
        tried += result.attempted
    assert tried > 0


def test_no_file_is_too_long_to_read() -> None:
    long = {
        str(p.relative_to(ROOT)): n
        for p in [
            ROOT / "cli.py",
            *(f for r in (*ROOMS, "reeldb") for f in (ROOT / r).rglob("*.py")),
        ]
        if (n := len(p.read_text().splitlines())) > 500
    }
    assert long == {}
