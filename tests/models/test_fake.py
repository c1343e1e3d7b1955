from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from reeldb.models.colours import PALETTE
from reeldb.models.fake import (
    Fake,
    FakeCaptioner,
    FakeChat,
    FakeEmbedder,
    FakePictureTool,
)
from reeldb.models.registry import load
from reeldb.schema.errors import ModelError
from reeldb.schema.models import CaptionRequest, Message, Reply, Role

if TYPE_CHECKING:
    from reeldb.schema.models import Image


def plain(name: str) -> Image:
    return np.full((24, 32, 3), PALETTE[name], np.uint8)


def ask(*colours: str, prompt: str = "scene") -> CaptionRequest:
    return CaptionRequest([plain(c) for c in colours], list(range(len(colours))), prompt)


def fake(address: str, role: Role) -> Fake:
    return cast(Fake, load(address, role))


def test_a_captioner_names_the_colours_and_times_it_got() -> None:
    model = cast(FakeCaptioner, fake("fake:captioner", "captioner"))
    [reply] = model.caption([ask("red", "blue")])
    assert reply == Reply("ok", "A red then blue picture at 0.0 s, 1.0 s.", tokens=10)


def test_replies_take_turns_and_are_counted() -> None:
    model = cast(FakeCaptioner, fake("fake:captioner?reply=a+cat&reply=dog+{n}", "captioner"))
    texts = [r.text for r in model.caption([ask("red")] * 3)]
    assert texts == ["a cat", "dog 2", "a cat"]
    assert (model.calls, model.requests, len(model.history)) == (1, 3, 3)


def test_scripted_replies_come_first() -> None:
    model = cast(FakeCaptioner, fake("fake:captioner?reply=x", "captioner"))
    model.enqueue("first", Reply("refused", note="no"))
    assert [r.status for r in model.caption([ask("red")] * 3)] == ["ok", "refused", "ok"]


def test_every_third_request_fails_where_the_address_says_so() -> None:
    model = cast(FakeCaptioner, fake("fake:captioner?fail=3", "captioner"))
    statuses = [r.status for r in model.caption([ask("red")] * 6)]
    assert statuses == ["ok", "ok", "failed"] * 2


def test_every_second_call_crashes_where_the_address_says_so() -> None:
    model = cast(FakeCaptioner, fake("fake:captioner?crash=2", "captioner"))
    model.caption([ask("red")])
    with pytest.raises(ModelError, match="call 2 crashed"):
        model.caption([ask("red")])


def test_manner_stays_out_of_the_identity_and_content_is_in_it() -> None:
    same = fake("fake:captioner?fail=3&reply=a", "captioner").identity
    assert same == fake("fake:captioner?reply=a", "captioner").identity
    assert same != fake("fake:captioner?reply=b", "captioner").identity


def test_the_word_red_is_nearest_to_the_red_picture() -> None:
    model = cast(FakeEmbedder, fake("fake:embedder?dim=16", "embedder"))
    images = model.embed_images([plain(c) for c in ("red", "green", "blue")])
    scores = images @ model.embed_texts(["a red picture", "a blue picture"]).T
    assert images.shape == (3, 16)
    assert list(scores.argmax(axis=0)) == [0, 2]
    np.testing.assert_allclose(np.linalg.norm(images, axis=1), 1, atol=1e-6)


def test_a_colour_can_fail_as_a_row_of_nan() -> None:
    model = cast(FakeEmbedder, fake("fake:embedder?nan=black", "embedder"))
    rows = model.embed_images([plain("black"), plain("red")])
    assert np.isnan(rows[0]).all()
    assert np.isfinite(rows[1]).all()


def test_no_pictures_and_no_texts_give_no_rows() -> None:
    model = cast(FakeEmbedder, fake("fake:embedder", "embedder"))
    assert model.embed_images([]).shape == model.embed_texts([]).shape == (0, 32)


def test_text_is_read_only_on_the_named_colour() -> None:
    model = cast(FakePictureTool, fake("fake:ocr?on=red&text=HELLO&text=THERE", "ocr"))
    looks = model.look([plain("red"), plain("blue")])
    assert [f.text for f in looks[0].found] == ["HELLO", "THERE"]
    assert looks[1].status == "empty"


def test_chat_says_yes_where_the_message_has_the_word() -> None:
    model = cast(FakeChat, fake("fake:chat?has=rabbit", "chat"))
    chats = [[Message("user", "a Rabbit eats")], [Message("user", "a fish")]]
    assert [r.text for r in model.reply(chats)] == ["yes", "no"]


def test_vision_says_yes_where_the_message_names_the_colour() -> None:
    model = cast(FakeChat, fake("fake:vision", "vision"))
    chats = [[Message("user", "is it red?", [plain(c)], [0.0])] for c in ("red", "blue")]
    assert [r.text for r in model.reply(chats)] == ["yes", "no"]


def test_each_request_is_logged_across_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "calls"
    monkeypatch.setenv("REEL_FAKE_LOG", str(log))
    cast(FakeCaptioner, fake("fake:captioner", "captioner")).caption([ask("red")] * 2)
    assert log.read_text() == "fake:captioner\n" * 2


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("fake:captoner", "did you mean captioner"),
        ("fake:captioner?replay=a", "did you mean reply"),
        ("fake:captioner?fail=often", "fail=often is not a number"),
        ("fake:captioner?seconds=-1", "seconds=-1 is not a number"),
        ("fake:embedder?dim=2", "dim must be at least 12"),
    ],
)
def test_a_wrong_address_says_what_was_possible(address: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load(address, "embedder" if "embedder" in address else "captioner")
