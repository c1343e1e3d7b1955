from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from reeldb.models.builtin import weights
from reeldb.models.builtin.session import session
from reeldb.schema.errors import ModelError

WHEEL_SHARE = 52_000_000  # bytes: the wheel must stay under 70 MB


def test_every_file_is_as_recorded() -> None:
    for name, entry in weights.recorded().items():
        data = weights.weight_file(name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == entry["sha256"], name


def test_nothing_is_shipped_without_a_record() -> None:
    shipped = {p.name for p in weights.DATA.iterdir()}
    assert shipped == {*weights.recorded(), "NOTICE", "SOURCES.json"}


def test_every_file_has_a_licence_and_a_source() -> None:
    notice = weights.weight_file("NOTICE").read_text()
    for name, entry in weights.recorded().items():
        assert name in notice
        assert entry["licence"]
        assert entry["from"] or entry["made_of"]


def test_the_weights_fit_into_the_wheel() -> None:
    assert sum(p.stat().st_size for p in weights.DATA.iterdir()) < WHEEL_SHARE


def test_a_missing_file_is_named_with_the_cure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(weights, "DATA", tmp_path)
    with pytest.raises(ModelError, match=r"lost\.onnx is missing .* install reeldb again"):
        session("lost.onnx")


def test_a_broken_network_is_named_with_the_cure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"not a network")
    monkeypatch.setattr(weights, "DATA", tmp_path)
    with pytest.raises(ModelError, match=r"broken\.onnx cannot be opened"):
        session("broken.onnx")


def test_the_version_changes_with_the_method_and_the_files() -> None:
    one = weights.version("a", "lite0.onnx")
    assert one == weights.version("a", "lite0.onnx")
    assert len({one, weights.version("b", "lite0.onnx"), weights.version("a", "labels.txt")}) == 3
