from __future__ import annotations

import signal
import threading
import time
from threading import Event

import pytest

from reeldb.models.openai.diagnose import retry_after_s
from reeldb.models.openai.threads import in_threads
from reeldb.schema.errors import ModelError
from tests import faults
from tests.faults import Fault
from tests.models.openai_adapters import (
    Adapters,
    QuickClock,
    adapters,
    question,
    request,
)
from tests.seeing import SeeingServer


def test_retry_after_is_waited_out(seeing: SeeingServer) -> None:
    seeing.fail(faults.too_many("2"), faults.too_many("2"))
    with adapters(seeing) as made:
        [reply] = made.captioner().caption([request([1])])
    assert (reply.status, reply.calls) == ("ok", 3)
    assert len(made.clock.waits) == 2 and all(2 <= w < 2.3 for w in made.clock.waits)


def test_retry_after_above_a_minute_is_waited_out_too(seeing: SeeingServer) -> None:
    seeing.fail(faults.too_many("120"))
    with adapters(seeing) as made:
        [reply] = made.captioner().caption([request([1])])
    assert reply.status == "ok"
    assert 120 <= sum(made.clock.waits) < 121


def test_a_wait_above_the_limit_is_not_begun(seeing: SeeingServer) -> None:
    seeing.always = faults.too_many("3600")
    with adapters(seeing) as made:
        [reply] = made.captioner(max_wait_s=600).caption([request([1])])
    assert (reply.status, reply.calls, made.clock.waits) == ("failed", 1, [])
    assert reply.note == (
        "429: Rate limit reached; the server asks to wait 3600 s; max_wait_s is 600"
    )


def test_after_a_pause_fewer_requests_run_at_once(seeing: SeeingServer) -> None:
    seeing.fail(*[faults.too_many("5")] * 8)
    seeing.latency_s = 0.05
    with adapters(seeing) as made:

        class Forgetting(QuickClock):
            def wait(self, seconds: float, stop: Event) -> None:
                super().wait(seconds, stop)
                before.append(seeing.peak)
                seeing.peak = 0

        before: list[int] = []
        made.server.clock = Forgetting()
        replies = made.chat(concurrency=8).reply([question("a")] * 8)
    assert {r.status for r in replies} == {"ok"}
    assert before[0] == 8 > seeing.peak > 0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:05 GMT"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s(headers, now_s=10.0) == seconds


@pytest.mark.parametrize(
    "fault",
    [
        faults.too_many(),
        faults.status(503),
        faults.status(500, "oh"),
        faults.status(408),
        faults.reset(),
        faults.garbage(),
    ],
)
def test_a_passing_trouble_is_tried_again(seeing: SeeingServer, fault: Fault) -> None:
    seeing.fail(fault)
    with adapters(seeing) as made:
        [reply] = made.captioner().caption([request([1])])
    assert (reply.status, reply.calls, seeing.calls) == ("ok", 2, 2)
    assert len(made.clock.waits) == 1 and 0.25 <= made.clock.waits[0] <= 0.5


def test_attempts_are_bounded_and_pauses_grow(seeing: SeeingServer) -> None:
    seeing.always = faults.status(503, "overloaded")
    with adapters(seeing) as made:
        [reply] = made.captioner(attempts=5, backoff_s=1).caption([request([1])])
    assert (reply.status, reply.calls, seeing.calls) == ("failed", 5, 5)
    assert reply.note == "503: overloaded (5 attempts)"
    for wait, most in zip(made.clock.waits, [1, 2, 4, 8], strict=True):
        assert most / 2 <= wait <= most


@pytest.mark.parametrize("fault", [faults.hang(5), faults.drip(0.06)])
def test_a_server_too_slow_is_left(seeing: SeeingServer, fault: Fault) -> None:
    seeing.always = fault
    began_s = time.monotonic()
    with adapters(seeing) as made:
        [reply] = made.captioner(attempts=2, timeout_s=0.15).caption([request([1])])
    assert time.monotonic() - began_s < 2
    assert (reply.status, reply.calls) == ("failed", 2)
    assert reply.note == "no whole reply in time (2 attempts)"


def test_one_bad_request_leaves_the_others_alone(seeing: SeeingServer) -> None:
    seeing.every = (3, faults.status(400, "odd picture"))
    with adapters(seeing) as made:
        replies = made.captioner(concurrency=1).caption([request([t]) for t in range(6)])
    assert [r.status for r in replies] == ["ok", "ok", "failed"] * 2


def test_a_server_that_goes_away_fails_requests_and_no_more(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        captioner = made.captioner(attempts=3)
        captioner.caption([request([1])])
        seeing.close()
        made.server.close()
        [reply] = captioner.caption([request([2])])
    assert (reply.status, reply.calls) == ("failed", 3)
    assert "cannot connect" in reply.note and "(3 attempts)" in reply.note


def test_a_server_that_never_was_is_an_error_at_once() -> None:
    with SeeingServer() as gone:
        made = Adapters(gone.url)
    with pytest.raises(ModelError, match=r"cannot connect to .*is the server running") as e:
        made.captioner().caption([request([1]), request([2])])
    assert "\n" not in str(e.value)
    assert len(made.clock.waits) <= 2
    made.server.close()


def test_each_further_call_is_debited_before_it_is_made(seeing: SeeingServer) -> None:
    seeing.always = faults.status(503)
    asked = []

    def debit() -> bool:
        asked.append(seeing.calls)
        return len(asked) < 3

    with adapters(seeing) as made:
        [reply] = made.captioner().metered(debit).caption([request([1])])
    assert asked == [1, 2, 3]
    assert (reply.status, reply.calls, seeing.calls) == ("failed", 3, 3)
    assert reply.note == "the budget allows no further call for it"


def test_halving_is_debited_as_well(seeing: SeeingServer) -> None:
    seeing.max_pictures = 1
    with adapters(seeing) as made:
        [reply] = made.captioner().metered(lambda: False).caption([request([1, 2])])
    assert (reply.status, seeing.calls) == ("failed", 1)


def test_a_rate_limit_spaces_requests(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        made.captioner(requests_per_minute=30, concurrency=1).caption([request([1])] * 4)
    assert sum(made.clock.waits) == pytest.approx(6)


def test_an_error_in_one_thread_stops_the_others_and_is_raised() -> None:
    stop, done = Event(), []

    def work(i: int) -> int:
        if i == 3:
            raise RuntimeError("a bug")
        stop.wait(5)
        done.append(i)
        return i

    began_s = time.monotonic()
    with pytest.raises(RuntimeError, match="a bug"):
        in_threads(work, range(100), 4, stop)
    assert time.monotonic() - began_s < 2
    assert sorted(done) == [0, 1, 2]


def test_an_interrupt_does_not_wait_for_requests(seeing: SeeingServer) -> None:
    seeing.always = faults.hang(30)
    main = threading.main_thread().ident
    assert main is not None
    with adapters(seeing) as made:
        captioner = made.captioner()
        captioner.caller.server.client  # noqa: B018
        began_s = time.monotonic()
        threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            captioner.caption([request([t]) for t in range(20)])
        assert time.monotonic() - began_s < 3
        calls = seeing.calls
        seeing.close()
    assert seeing.calls == calls <= captioner.batch_size
