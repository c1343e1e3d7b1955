from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from reeldb.models.registry import load
from reeldb.models.torch import extras
from reeldb.models.torch.settings import settings_of
from reeldb.models.torch.weights import folder_digest, source_of
from reeldb.schema.errors import ModelError
from reeldb.schema.models import Role

NAME = "transformers:org/model"


def test_a_folder_is_known_by_what_is_in_it_wherever_it_lies(tmp_path: Path) -> None:
    for place in ("here", "there"):
        folder = tmp_path / place / "tiny"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(bytes(range(256)) * 40_000)
    here, there = (source_of(f"transformers:{tmp_path / p / 'tiny'}") for p in ("here", "there"))
    assert here.identity == there.identity
    assert here.identity.startswith("transformers:tiny@") and str(tmp_path) not in here.identity


@pytest.mark.parametrize("changed", ["config.json", "model.safetensors"])
def test_other_weights_are_another_identity(tmp_path: Path, changed: str) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(bytes(9_000_000))
    before = folder_digest(tmp_path)
    (tmp_path / "optimizer.log").write_text("noise")
    assert folder_digest(tmp_path) == before
    with (tmp_path / changed).open("r+b") as f:
        f.seek(-1, 2)
        f.write(b"!")
    assert folder_digest(tmp_path) != before


def test_a_hub_name_is_known_by_its_name_and_the_revision_that_is_set() -> None:
    assert source_of(NAME).identity == NAME
    assert source_of(NAME, "v2").identity == f"{NAME}@v2"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("transformers:", "names no model"),
        ("transformers:/no/such/folder", "there is no folder"),
        ("transformers:./nowhere", "there is no folder"),
        ("transformers:a/b/c", "there is no folder"),
    ],
)
def test_a_folder_that_is_not_there_is_named(address: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        source_of(address)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"dtype": "float8"}, "give auto, float32"),
        ({"batch_size": 0}, "a whole number from 1"),
        ({"max_tokens": "many"}, "a whole number"),
        ({"trust_remote_code": "yes"}, "true or false"),
        ({"device": 1}, "give a text"),
        ({"batchsize": 4}, "did you mean batch_size"),
    ],
)
def test_a_senseless_setting_is_named(setting: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        settings_of(NAME, setting)


@pytest.mark.parametrize(
    ("address", "role", "package"),
    [
        (NAME, "captioner", "torch"),
        (NAME, "chat", "transformers"),
        ("open_clip:ViT-B-32/openai", "embedder", "open_clip"),
    ],
)
def test_a_missing_extra_is_named_with_the_pip_line(
    address: str, role: Role, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    there = found("json")

    def without(name: str) -> object:
        return None if name == package else there

    monkeypatch.setattr(extras, "find_spec", without)
    with pytest.raises(ModelError, match=rf"needs {package}.*pip install 'reeldb\[gpu\]'"):
        load(address, role, {"batch_size": 2})


def test_a_package_that_is_there_and_broken_is_told_apart() -> None:
    with pytest.raises(ModelError, match=r"needs no_such_package, which is not installed: pip"):
        extras.optional("no_such_package.part", NAME)


def test_the_device_and_the_numbers_are_chosen() -> None:
    torch = pytest.importorskip("torch")
    from reeldb.models.torch.hardware import Hardware, available, hardware

    assert hardware("cpu") == Hardware("cpu", "float32")
    assert hardware("cpu", "bfloat16") == Hardware("cpu", "bfloat16")
    assert hardware("cpu").torch_dtype() is torch.float32
    assert hardware().device == available()[0]
    if available() == ("cpu",):
        with pytest.raises(ModelError, match="this machine has cpu"):
            hardware("cuda")
    with pytest.raises(ModelError, match="this machine has"):
        hardware("abacus")


@pytest.mark.parametrize(
    ("bf16", "half", "dtype"),
    [
        (True, "bfloat16", "bfloat16"),
        (False, "bfloat16", "float16"),
        (True, "float16", "float16"),
    ],
)
def test_a_gpu_is_taken_with_half_numbers_where_there_is_one(
    bf16: bool, half: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    from reeldb.models.torch.hardware import hardware

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: bf16)
    chosen = hardware(half=half)
    assert (chosen.device, chosen.dtype) == ("cuda", dtype)
    assert hardware("cuda:1", "float32").device == "cuda:1"
    with pytest.raises(ModelError, match="cuda:7"):
        hardware("cuda:7")
