from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from reeldb.models.openai.loader import check
from reeldb.models.registry import PROTOCOLS, Models, load
from reeldb.schema.errors import ModelError
from reeldb.schema.models import Role
from tests import faults
from tests.models.openai_adapters import question, request
from tests.seeing import SeeingServer

WORKING: dict[Role, str] = {
    "captioner": "openai:seer",
    "chat": "openai:seer",
    "vision": "openai:seer",
    "text_embedder": "openai:speller",
    "speech": "openai:listener",
}


@pytest.fixture(autouse=True)
def _no_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "config.toml"))
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("role", WORKING)
def test_each_role_is_loaded_by_address_and_checked(role: Role, seeing: SeeingServer) -> None:
    config = {"base_url": seeing.url}
    assert isinstance(load(WORKING[role], role, config), PROTOCOLS[role])
    line = check(WORKING[role], role, config)
    assert line.startswith(f"{WORKING[role]} answers at {seeing.url} in ") and "\n" not in line
    assert seeing.calls == 1


@pytest.mark.parametrize("role", ["embedder", "ocr", "objects", "actions"])
def test_a_role_that_servers_do_not_have_is_refused(role: Role) -> None:
    with pytest.raises(ModelError, match="such servers offer captioner, chat"):
        load("openai:seer", role)


def test_an_address_without_a_model_is_refused() -> None:
    with pytest.raises(ModelError, match="write openai:MODEL"):
        load("openai:", "chat")


def test_the_identity_has_the_revision_and_never_the_server() -> None:
    here = {"base_url": "http://127.0.0.1:1/v1"}
    assert load("openai:org/seer:7b", "captioner", here).identity == "openai:org/seer:7b"
    new = load("openai:seer", "captioner", {**here, "revision": "2"})
    assert new.identity == "openai:seer@2"


def test_loading_imports_nothing_heavy_and_wants_no_key() -> None:
    code = (
        "import sys; from reeldb.models.registry import load; "
        "m = load('openai:gpt-5-mini', 'captioner'); print(m.identity, m.image_size, "
        "[x for x in ('openai', 'httpx2', 'cv2') if x in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "openai:gpt-5-mini 768 []\n"


def test_the_users_config_says_where_a_model_is(tmp_path: Path, seeing: SeeingServer) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[openai]\nbase_url = "{seeing.url}"\nimage_size = 100\n')
    [reply] = Models({"captioner": "openai:seer"}).captioner().caption([request([1])])
    assert reply.status == "ok"
    assert seeing.requests[0].sizes == ((100, 56),)


def test_the_environments_base_url_is_honoured(
    seeing: SeeingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", seeing.url)
    assert check("openai:seer", "chat").startswith("openai:seer answers")


def test_a_check_says_what_is_wrong_in_one_line(seeing: SeeingServer) -> None:
    config = {"base_url": seeing.url, "backoff_s": 0.01}
    with pytest.raises(ModelError, match="did you mean seer") as wrong:
        check("openai:sear", "chat", config)
    seeing.always = faults.status(503, "loading the model")
    with pytest.raises(ModelError, match=r"chat: 503: loading the model \(2 attempts\)") as busy:
        check("openai:seer", "chat", config)
    assert "\n" not in f"{wrong.value}{busy.value}"


def test_adapters_of_one_server_share_its_limit(seeing: SeeingServer) -> None:
    seeing.latency_s = 0.05
    config = {"base_url": seeing.url, "concurrency": 2}
    models = Models({"captioner": "openai:seer", "vision": "openai:seer"},
                    {"openai:seer": config})  # fmt: skip
    captioner, vision = models.captioner(), models.vision()
    other = Thread(target=lambda: vision.reply([question("yes or no?", [1])] * 4))
    other.start()
    captioner.caption([request([1])] * 4)
    other.join()
    assert (seeing.calls, seeing.peak) == (8, 2)
