from __future__ import annotations

import pytest

from reeldb.models.openai.captioner import OpenAICaptioner
from reeldb.models.openai.endpoint import Endpoint, endpoint_of
from reeldb.models.openai.server import Server
from reeldb.schema.errors import ModelError
from tests import faults
from tests.faults import Fault
from tests.models.openai_adapters import Adapters, adapters, question, request
from tests.seeing import SeeingServer

SECRET = "very-secret-0123456789"


def said(made: Adapters, model: str = "seer") -> str:
    """The one line that a caption raises."""
    with pytest.raises(ModelError) as e:
        made.captioner(model).caption([request([1]), request([2])])
    line = str(e.value)
    assert "\n" not in line and SECRET not in line and SECRET not in repr(e.value)
    return line


def test_a_wrong_key_is_said_once_without_the_key(seeing: SeeingServer) -> None:
    seeing.key = "another"
    with adapters(seeing, SECRET) as made:
        line = said(made)
    assert "refuses the key (401); check the key and key_env" in line
    assert seeing.calls <= 2 and seeing.requests[0].key == SECRET


def test_a_key_that_a_server_quotes_is_hidden(seeing: SeeingServer) -> None:
    seeing.always = faults.status(400, f"bad request by {SECRET}")
    with adapters(seeing, SECRET) as made:
        [reply] = made.captioner().caption([request([1])])
    assert reply.note == "400: bad request by ***"


def test_a_wrong_model_names_the_right_ones(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        assert "no model 'seerr'" in said(made, "seerr")
        assert "did you mean seer, " in said(made, "seerr")
        assert "known: listener, seer, speller" in said(made, "gpt-5-mini")


def test_a_wrong_path_and_a_web_page_say_how_a_base_url_ends(seeing: SeeingServer) -> None:
    made = Adapters(seeing.url.removesuffix("/v1"))
    assert "does it end in /v1?" in said(made)
    made.server.close()
    seeing.always = faults.page()
    with adapters(seeing) as made:
        assert "a web page" in said(made) and "most end in /v1" in said(made)


def test_a_redirect_is_not_followed(seeing: SeeingServer) -> None:
    seeing.always = Fault(307, headers={"Location": "http://elsewhere.example/v1"})
    with adapters(seeing) as made:
        assert "redirects elsewhere" in said(made)


def test_a_plain_server_under_https_is_a_tls_error(seeing: SeeingServer) -> None:
    made = Adapters(seeing.url.replace("http:", "https:"))
    assert "no secure connection" in said(made)
    assert made.clock.waits == []
    made.server.close()


@pytest.mark.parametrize(
    "fault",
    [
        faults.status(429, "You exceeded your current quota", code="insufficient_quota"),
        faults.status(402, "Payment required"),
    ],
)
def test_no_credit_is_not_tried_again(seeing: SeeingServer, fault: Fault) -> None:
    seeing.always = fault
    with adapters(seeing) as made:
        assert "no credit left" in said(made)
    assert seeing.calls <= 2


@pytest.mark.parametrize(
    "words",
    [
        "image input is not supported - hint: you may need to provide the mmproj",
        "seer is not a multimodal model",
        "This model does not support image input",
    ],
)
def test_a_model_without_eyes_is_named(seeing: SeeingServer, words: str) -> None:
    seeing.always = faults.status(500 if "hint" in words else 400, words)
    with adapters(seeing) as made:
        assert "takes no pictures" in said(made)


def test_what_was_paid_for_is_kept_when_a_key_stops_working(seeing: SeeingServer) -> None:
    seeing.every = (3, faults.status(401))
    with adapters(seeing) as made:
        captioner = made.captioner(concurrency=1)
        replies = captioner.caption([request([t]) for t in range(5)])
        assert [r.status for r in replies] == ["ok", "ok", "failed", "failed", "failed"]
        assert [r.calls for r in replies] == [1, 1, 1, 0, 0]
        assert replies[4].note.startswith("not sent: ")
        seeing.always = faults.status(401)
        with pytest.raises(ModelError, match="refuses the key"):
            captioner.caption([request([6])])


def test_a_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    captioner = OpenAICaptioner("openai:gpt-5-mini", Endpoint())
    with pytest.raises(ModelError, match="set the environment variable OPENAI_API_KEY"):
        captioner.caption([request([1])])


def test_a_local_server_gets_no_key_unless_told_to() -> None:
    environ = {"OPENAI_API_KEY": SECRET, "MINE": "mine"}
    for url in (
        "http://127.0.0.1:1/v1", "http://[::1]:1/v1", "http://localhost:8000/v1",
        "http://192.168.1.5/v1", "http://gpu-box/v1", "http://gpu.local/v1",
    ):  # fmt: skip
        assert Endpoint(url).key(environ) == "no-key"
        assert Endpoint(url, key_env="MINE").key(environ) == "mine"
    assert Endpoint("https://vllm.example.com/v1").key(environ) == SECRET
    assert Endpoint("http://vllm.example.com/v1", key_env="").key(environ) == "no-key"


def test_a_key_is_never_sent_unencrypted_to_afar() -> None:
    with pytest.raises(ModelError, match="use https") as e:
        Endpoint("http://vllm.example.com/v1").key({"OPENAI_API_KEY": SECRET})
    assert SECRET not in str(e.value)


def test_a_key_with_a_line_break_is_refused_unseen() -> None:
    with pytest.raises(ModelError, match="characters that no key has") as e:
        Endpoint().key({"OPENAI_API_KEY": f"{SECRET}\nX-More: yes"})
    assert SECRET not in str(e.value)


def test_the_key_is_in_no_repr() -> None:
    assert SECRET not in repr(Endpoint()) + repr(Server("http://localhost/v1", SECRET))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"base_ulr": "x"}, "no setting base_ulr; did you mean base_url?"),
        ({"base_url": "ftp://host/v1"}, "write it as https://"),
        ({"base_url": "localhost:8000"}, "write it as https://"),
        ({"base_url": "https://me:pass@host/v1"}, "leave it out"),
        ({"base_url": "https://host/v1?api_key=s3cret"}, "leave it out"),
        ({"base_url": 5}, "give a text"),
        ({"key_env": 5}, "give the name"),
        ({"concurrency": 0}, "concurrency = 0: give a whole number from 1 to 1024"),
        ({"concurrency": 2.5}, "give a whole number"),
        ({"timeout_s": True}, "give a number"),
        ({"timeout_s": float("nan")}, "give a number"),
    ],
)
def test_a_senseless_setting_is_named(config: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match="'openai:seer'") as e:
        endpoint_of("openai:seer", config, {})
    assert message in str(e.value)
    assert "pass" not in str(e.value).replace("password", "") and "s3cret" not in str(e.value)


def test_the_base_url_is_the_settings_then_the_environments_then_openais() -> None:
    environ = {"OPENAI_BASE_URL": "http://localhost:1/v1/"}
    mine = endpoint_of("openai:seer", {"base_url": "http://localhost:2/v1"}, environ)
    assert mine.base_url == "http://localhost:2/v1"
    assert endpoint_of("openai:seer", {}, environ).base_url == "http://localhost:1/v1"
    assert endpoint_of("openai:seer", {}, {}).base_url == "https://api.openai.com/v1"


def test_a_chat_is_refused_as_a_caption_is(seeing: SeeingServer) -> None:
    seeing.key = "another"
    with adapters(seeing) as made, pytest.raises(ModelError, match="refuses the key"):
        made.chat().reply([question("hello")])
