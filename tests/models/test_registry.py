from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from reeldb.models import registry
from reeldb.models.describe import describe, describe_all
from reeldb.models.registry import DEFAULTS, PROTOCOLS, Models, load
from reeldb.schema.errors import ModelError
from reeldb.schema.models import ROLES, Role


def test_every_role_has_a_default_and_a_protocol() -> None:
    assert tuple(DEFAULTS) == tuple(PROTOCOLS) == ROLES


@pytest.mark.parametrize("role", [r for r in ROLES if DEFAULTS[r]])
def test_each_default_is_fit_for_its_role(role: Role) -> None:
    model = Models().need(role)
    assert isinstance(model, PROTOCOLS[role])
    assert model.address == DEFAULTS[role]
    assert model.can
    assert model.cannot


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("bultin:labels", "did you mean builtin"),
        ("labels", "known: builtin, fake"),
        ("", "known: builtin, fake"),
        ("builtin:lables", "did you mean builtin:labels"),
    ],
)
def test_an_unknown_address_names_the_known_ones(address: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load(address, "embedder")


def test_a_model_that_does_not_fit_the_role_is_refused() -> None:
    with pytest.raises(ModelError, match="cannot be the captioner"):
        load("fake:ocr", "captioner")


def test_an_unknown_role_names_the_known_ones() -> None:
    with pytest.raises(ModelError, match="did you mean captioner"):
        Models({"captoner": "fake:captioner"})


def test_a_model_is_made_once() -> None:
    models = Models({"captioner": "fake:captioner"})
    assert models.captioner() is models.get("captioner")


def test_a_role_without_a_model_gives_none_or_the_cure() -> None:
    models = Models({"captioner": "none"})
    assert models.get("captioner") is None
    with pytest.raises(ModelError, match="reel models set captioner ADDRESS"):
        models.captioner()
    with pytest.raises(ModelError, match="no chat is set"):
        models.chat()


def test_a_package_can_plug_in_a_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("acme", "reeldb.models.fake:load", registry.ENTRY_POINTS)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    assert load("acme:captioner", "captioner").address == "acme:captioner"


def test_a_broken_plug_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("acme", "no_such_package:load", registry.ENTRY_POINTS)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    with pytest.raises(ModelError, match="no_such_package:load cannot be imported"):
        load("acme:captioner", "captioner")


def test_every_role_is_described_with_the_line_that_improves_it() -> None:
    for description in describe_all():
        assert description.can
        assert description.cannot
        assert f"reel models set {description.role} ADDRESS" in description.improve


def test_a_role_whose_model_is_broken_is_described_too() -> None:
    description = describe("captioner", Models({"captioner": "nonsense:x"}))
    assert "nonsense:x" in description.problem


def test_the_registry_imports_nothing_heavy() -> None:
    code = (
        "import sys, reeldb.models.registry, reeldb.models.describe, reeldb.models.fake\n"
        "print([m for m in ('av', 'cv2', 'onnxruntime', 'scenedetect', 'tokenizers', 'lance')"
        " if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"
