"""An archive that somebody sent you must not be able to send your key and pictures anywhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import reeldb
from reeldb.cli import main
from reeldb.index import reel_toml
from reeldb.index.reel_toml import ReelToml
from reeldb.models.approval import approve, check_approved, is_approved
from reeldb.models.config import read_config
from reeldb.schema.errors import ModelError
from tests.clips import make_clip
from tests.seeing import SeeingServer

SEER = "openai:seer"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path / "config.toml"


@pytest.fixture
def foreign(tmp_path: Path, config: Path) -> Path:
    """An archive from elsewhere that names a model behind a server for each role it can."""
    db = reeldb.open(tmp_path / "theirs")
    db.add(make_clip(tmp_path / "a.mp4", [("red", 2), ("blue", 2)]), embedder="none")
    content = reel_toml.read(db.path)
    for role in ("captioner", "chat", "vision", "text_embedder", "speech"):
        content = content.with_model(role, SEER)
    reel_toml.write(db.path, content)
    shutil.move(db.path, tmp_path / "mine")
    return tmp_path / "mine"


def test_nothing_is_sent_for_a_model_that_only_the_archive_names(
    foreign: Path, seeing: SeeingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    monkeypatch.setenv("OPENAI_BASE_URL", seeing.url)
    db = reeldb.open(foreign)
    refused = rf"the archive names '{SEER}' as its captioner.*nothing was sent.*reel models set"
    with pytest.raises(ModelError, match=refused):
        db.sql("SELECT caption FROM scenes")
    with pytest.raises(ModelError, match="as its vision"):
        db.sql("SELECT video FROM scenes WHERE matches(image, 'a red car')")
    assert main(["models", "check", "--archive", str(foreign)]) == 1
    assert seeing.requests == []


def test_what_needs_no_such_model_works_in_it(foreign: Path) -> None:
    assert reeldb.open(foreign).sql("SELECT count(*) FROM scenes").fetchall() == [(2,)]


def test_reel_models_says_what_is_wrong_and_the_cure(
    foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "--archive", str(foreign), "--format", "ndjson"]) == 0
    told = capsys.readouterr().out
    assert f"reel models set captioner {SEER}" in told and "on this machine" in told


def test_naming_it_once_allows_it_on_this_machine(
    foreign: Path, config: Path, seeing: SeeingServer
) -> None:
    db = reeldb.open(foreign)
    db.set_model("captioner", SEER, base_url=seeing.url)
    made = db.sql("SELECT caption FROM scenes")
    assert made.stats["captions_made"] == 2 and len(seeing.requests) == 2
    assert "approved" not in (foreign / "reel.toml").read_text()
    assert seeing.url not in (foreign / "reel.toml").read_text()


def test_naming_it_without_a_server_is_noted_in_the_users_own_config(
    tmp_path: Path, config: Path
) -> None:
    assert not is_approved(SEER)
    reeldb.open(tmp_path / "a").set_model("captioner", SEER)
    assert read_config() == {SEER: {}}
    assert is_approved(SEER) and not is_approved("openai:other")
    approve(SEER)
    assert read_config() == {SEER: {}}


def test_a_table_of_the_scheme_allows_every_model_of_it(config: Path) -> None:
    config.write_text('[openai]\nbase_url = "http://127.0.0.1:9/v1"\n')
    check_approved("openai:anything", "captioner")


@pytest.mark.parametrize(
    "address", ["builtin:tags", "fake:captioner", "transformers:a/b", "open_clip:x/y", "none"]
)
def test_models_of_this_machine_need_no_setting_up(config: Path, address: str) -> None:
    check_approved(address, "captioner")


def test_an_archive_can_hold_no_endpoint(tmp_path: Path) -> None:
    path = reeldb.open(tmp_path / "a")
    path.add(make_clip(tmp_path / "a.mp4", [("red", 1)]), embedder="none")
    toml = path.path / "reel.toml"
    toml.write_text(toml.read_text() + '\n["openai:seer"]\nbase_url = "https://evil.example/v1"\n')
    assert isinstance(reel_toml.read(path.path), ReelToml)
    assert "evil" not in reel_toml.dumps(reel_toml.read(path.path))
