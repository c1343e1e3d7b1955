from __future__ import annotations

import pytest

from reeldb.schema.models import Captioner, CaptionRequest, ChatModel, Message, Metered
from tests import faults
from tests.faults import Fault
from tests.models.openai_adapters import adapters, picture, question, request
from tests.seeing import SeeingServer
from tests.witness import Event, Witness

FILM = Witness(
    [
        Event(1, 0, 5, "A cat sleeps on the sofa."),
        Event(1, 5, 10, "The cat spills the milk."),
        Event(2, 0, 9, "A dog digs."),
    ]
)


def test_a_caption_tells_what_its_pictures_show(seeing: SeeingServer) -> None:
    seeing.witness = FILM
    with adapters(seeing) as made:
        replies = made.captioner().caption([request([1.0, 4.0]), request([4.0, 6.5]), request([7])])
    assert [r.text for r in replies] == [
        "A cat sleeps on the sofa.",
        "A cat sleeps on the sofa. The cat spills the milk.",
        "The cat spills the milk.",
    ]
    assert {(r.status, r.note, r.calls) for r in replies} == {("ok", "", 1)}
    assert all(r.tokens > r.tokens_out > 0 for r in replies)


def test_each_picture_comes_after_its_time_and_the_prompt_comes_last(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        made.captioner().caption([request([0.0, 62.25], "What happens?")])
    [seen] = seeing.requests
    assert seen.labels == ("Picture at 00:00:00:", "Picture at 00:01:02.250:")
    assert seen.moments == ((1, 0.0), (1, 62.25))
    content = seen.body["messages"][0]["content"]
    assert content[-1] == {"type": "text", "text": "What happens?"}
    assert [p["type"] for p in content] == ["text", "image_url"] * 2 + ["text"]
    assert (seen.body["temperature"], seen.body["seed"]) == (0, 0)


def test_large_pictures_are_scaled_and_small_ones_left_alone(seeing: SeeingServer) -> None:
    tall = CaptionRequest([picture(1, size=(640, 1280)), picture(2)], [1, 2], "")
    with adapters(seeing) as made:
        made.captioner(image_size=400).caption([tall])
    assert seeing.requests[0].sizes == ((200, 400), (320, 180))
    assert seeing.requests[0].times_s == [1, 2]


def test_no_more_pictures_are_sent_than_allowed(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        [reply] = made.captioner(max_images=2).caption([request([0, 1, 2, 3, 4, 5, 6, 7])])
    assert seeing.requests[0].times_s == [2, 6]
    assert (reply.status, reply.calls) == ("ok", 1)
    assert reply.note == "2 of 8 pictures sent: max_images is 2"


def test_a_context_too_short_halves_the_pictures_and_is_remembered(seeing: SeeingServer) -> None:
    seeing.max_pictures = 2
    with adapters(seeing) as made:
        captioner = made.captioner()
        [first] = captioner.caption([request(range(8))])
        [second] = captioner.caption([request(range(8))])
    assert [len(s.moments) for s in seeing.requests] == [8, 4, 2, 2]
    assert (first.status, first.calls, second.calls) == ("ok", 3, 1)
    assert first.note.startswith("2 of 8 pictures sent: 400: This model's maximum context length")


def test_a_context_too_short_for_one_picture_fails_clearly(seeing: SeeingServer) -> None:
    seeing.max_pictures = 0
    big = CaptionRequest([picture(1, size=(1280, 720))], [1], "")
    with adapters(seeing) as made:
        [reply] = made.captioner().caption([big])
    assert [s.sizes[0][0] for s in seeing.requests] == [768, 384]
    assert (reply.status, reply.text) == ("failed", "")
    assert "even one picture of 384 pixels is too much" in reply.note


def test_too_large_a_body_is_halved_too(seeing: SeeingServer) -> None:
    seeing.fail(faults.status(413, "Request Entity Too Large"))
    with adapters(seeing) as made:
        [reply] = made.captioner().caption([request([0, 1])])
    assert [len(s.moments) for s in seeing.requests] == [2, 1]
    assert reply.status == "ok"


def test_too_long_a_text_fails_clearly(seeing: SeeingServer) -> None:
    seeing.max_chars = 50
    with adapters(seeing) as made:
        chat = made.chat()
        long, short = chat.reply([question("word " * 20), question("word")])
        [again] = chat.reply([question("word " * 20)])
    assert (long.status, short.status) == ("failed", "ok")
    assert long.note.startswith("the text is too much for the model: 400:")
    assert again.calls == 1  # it is tried again: the server may have a longer context by now


@pytest.mark.parametrize(
    ("fault", "status", "text", "note"),
    [
        (faults.says("A cat."), "ok", "A cat.", ""),
        (faults.says(" \n"), "empty", "", "said nothing"),
        (faults.says(None), "empty", "", "said nothing"),
        (faults.says("untrue"), "ok", "untrue", ""),
        (faults.refusal("I won't."), "refused", "", "declined: I won't."),
        (faults.says("I'm sorry, but I can't help with that."), "refused", "", "declined: I'm"),
        (faults.says("I’m sorry, I cannot assist with this."), "refused", "", "declined"),
        (faults.says("I can see a cat that cannot help."), "ok", "I can see a cat that", ""),
        (faults.filtered(), "refused", "", "content filter"),
        (faults.status(400, "flagged", code="content_filter"), "refused", "", "flagged"),
        (faults.no_choices(), "failed", "", "no choices"),
        (Fault(body=b"[1]"), "failed", "", "no choices"),
        (Fault(body=b'{"choices": [null]}'), "failed", "", "no choices"),
        (faults.says("A cat sits on", "length"), "ok", "A cat sits on", "cut off"),
        (faults.says("", "length"), "failed", "", "raise max_tokens"),
        (faults.says("<think>hm", "length"), "failed", "", "went for thinking"),
        (faults.says("<think>hm</think>\nA cat."), "ok", "A cat.", ""),
        (faults.capped(), "ok", "A cut", "4096 tokens in all, a round number"),
        (faults.status(400, "no idea"), "failed", "", "400: no idea"),
    ],
)
def test_each_answer_has_its_typed_status(
    seeing: SeeingServer, fault: Fault, status: str, text: str, note: str
) -> None:
    seeing.always = fault
    with adapters(seeing) as made:
        [reply] = made.captioner().caption([request([1])])
    assert reply.status == status
    assert reply.text.startswith(text) and bool(reply.text) == bool(text)
    assert note in reply.note and bool(reply.note) == bool(note)
    assert (reply.calls, seeing.calls) == (1, 1)


def test_content_in_parts_is_joined_and_cleaned(seeing: SeeingServer) -> None:
    parts = [{"type": "text", "text": "A c\0at"}, {"type": "x"}, {"text": " \ud800."}]
    seeing.fail(faults.says(None, content=parts))
    with adapters(seeing) as made:
        [reply] = made.captioner().caption([request([1])])
    assert reply.text == "A cat ?."


def test_concurrency_is_a_limit_of_the_server_whoever_asks(seeing: SeeingServer) -> None:
    seeing.latency_s = 0.02
    with adapters(seeing) as made:
        captioner, chat = made.captioner(concurrency=3), made.chat(concurrency=2)
        replies = captioner.caption([request([t]) for t in range(12)])
        assert (seeing.peak, captioner.batch_size) == (3, 3)
        seeing.peak = 0
        assert {r.status for r in chat.reply([question("hello")] * 6)} == {"ok"}
    assert seeing.peak == 2
    assert len(replies) == 12


def test_replies_are_in_the_order_of_their_requests(seeing: SeeingServer) -> None:
    seeing.witness = Witness(rules=[lambda seen: f"at {seen.times_s[0]}"])
    with adapters(seeing) as made:
        replies = made.captioner(concurrency=8).caption([request([t]) for t in range(30)])
    assert [r.text for r in replies] == [f"at {float(t)}" for t in range(30)]


def test_chats_keep_their_turns_and_plain_texts_stay_plain(seeing: SeeingServer) -> None:
    turns = [
        Message("system", "You judge."),
        Message("user", "Look.", [picture(1)]),
        Message("assistant", "I see."),
        Message("user", 'Statement: "a cat sleeps". Answer yes or no.'),
    ]
    seeing.witness = FILM
    with adapters(seeing) as made:
        [reply] = made.chat().reply([turns])
    sent = seeing.requests[0].body["messages"]
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "user"]
    assert sent[0]["content"] == "You judge."
    assert [p["type"] for p in sent[1]["content"]] == ["image_url", "text"]
    assert reply.text == "yes"


def test_nothing_to_ask_asks_nothing(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        assert made.captioner().caption([]) == made.chat().reply([]) == []
    assert seeing.calls == 0


def test_the_adapters_are_what_the_roles_want(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        assert isinstance(made.captioner(), Captioner) and isinstance(made.captioner(), Metered)
        assert isinstance(made.chat(), ChatModel) and isinstance(made.chat(), Metered)
        assert made.chat(max_images=7).max_images == 7
        assert made.captioner(image_size=512).image_size == 512
