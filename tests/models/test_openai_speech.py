from __future__ import annotations

import numpy as np
import pytest

from reeldb.schema.errors import ModelError
from reeldb.schema.models import SpeechTool
from tests import faults
from tests.faults import Fault
from tests.models.openai_adapters import adapters
from tests.seeing import SeeingServer

RATE = 16_000
SECOND = np.sin(np.arange(RATE) * (2 * np.pi * 440 / RATE)).astype(np.float32) * 0.5
QUIET = np.zeros(RATE, np.float32)


def test_speech_comes_with_its_times(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        speech = made.speech()
        found = speech.listen([np.concatenate([QUIET, SECOND, QUIET, SECOND])], RATE)[0]
    assert found.status == "ok" and isinstance(speech, SpeechTool)
    assert [(h.start_s, h.end_s, h.text, h.language) for h in found.heard] == [
        (1.0, 2.0, "a tone", "en"),
        (3.0, 4.0, "a tone", "en"),
    ]
    assert found.heard[0].confidence == pytest.approx(np.exp(-0.1), abs=1e-3)


def test_silence_is_not_sent_and_gives_nothing(seeing: SeeingServer) -> None:
    with adapters(seeing) as made:
        found = made.speech().listen([QUIET, SECOND, QUIET[:0]], RATE)
    assert [(f.status, f.calls) for f in found] == [("empty", 0), ("ok", 1), ("empty", 0)]
    assert seeing.calls == 1


def test_words_that_a_model_hears_in_silence_are_dropped(seeing: SeeingServer) -> None:
    segments = (
        b'{"start": 0, "end": 1, "text": "Thanks for watching", "avg_logprob": -1.4,'
        b' "no_speech_prob": 0.9}, {"start": 1, "end": 9, "text": " "}'
    )
    seeing.always = Fault(body=b'{"text": "Thanks", "segments": [' + segments + b"]}")
    with adapters(seeing) as made:
        assert made.speech().listen([SECOND], RATE)[0].status == "empty"


def test_a_server_without_times_gives_one_stretch(seeing: SeeingServer) -> None:
    seeing.refuses = ("response_format",)
    with adapters(seeing) as made:
        found = made.speech().listen([np.concatenate([SECOND, SECOND])], RATE)[0]
    assert found.calls == 2
    assert [(h.start_s, h.end_s, h.text) for h in found.heard] == [(0.0, 2.0, "a tone")]


def test_a_failure_is_a_status_and_the_others_stand(seeing: SeeingServer) -> None:
    seeing.fail(faults.status(409, "odd"), Fault(body=b'{"text": 5}'))
    with adapters(seeing) as made:
        found = made.speech(concurrency=1, attempts=1).listen([SECOND, SECOND, SECOND], RATE)
    assert [(f.status, f.note) for f in found] == [
        ("failed", "409: odd (1 attempt)"),
        ("failed", "the server's answer holds no text"),
        ("ok", ""),
    ]


def test_a_wrong_model_is_an_error(seeing: SeeingServer) -> None:
    with adapters(seeing) as made, pytest.raises(ModelError, match="did you mean listener"):
        made.speech("listenr").listen([SECOND], RATE)
