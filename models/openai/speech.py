"""Speech to text: windows of sound to timed text."""

from __future__ import annotations

import io
import math
import wave
from collections.abc import Callable, Sequence
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from reeldb.models.openai.caller import Caller, Job
from reeldb.models.openai.endpoint import Endpoint
from reeldb.models.openai.fault import Fault
from reeldb.models.openai.server import Server
from reeldb.models.openai.speaker import identity
from reeldb.models.openai.threads import in_threads
from reeldb.schema.models import Heard, Listening, Status

if TYPE_CHECKING:
    from reeldb.schema.models import Sound

SILENCE = 1e-3  # peak amplitude, -60 dB: below it nothing is sent, for models hear words in it
NO_SPEECH = 0.6  # with a log probability below LOW, Whisper's own sign of words in silence
LOW = -1.0


class OpenAISpeech:
    """`schema.models.SpeechTool`. Servers that give no times have one stretch a window."""

    can = "speech to text by a model behind an OpenAI-compatible server"
    cannot = "tell speakers apart"

    def __init__(
        self,
        address: str,
        endpoint: Endpoint,
        server: Server | None = None,
        *,
        caller: Caller | None = None,
    ) -> None:
        self.address = address
        self.endpoint = endpoint
        self.caller = caller or Caller(address.partition(":")[2], endpoint, server)
        self.identity = identity(address, endpoint)
        self.batch_size = endpoint.concurrency

    def listen(self, sounds: Sequence[Sound], rate: int) -> list[Listening]:
        """One listening a sound. Raises ModelError where no request can work."""
        stop = Event()
        wrong: list[Fault] = []
        work = partial(self._one, rate=rate, stop=stop, wrong=wrong)
        found = in_threads(work, list(sounds), self.endpoint.concurrency, stop)
        if wrong and all(f.status == "failed" for f in found):
            raise self.caller.error(wrong[0])
        return found

    def metered(self, debit: Callable[[], bool]) -> OpenAISpeech:
        return OpenAISpeech(self.address, self.endpoint, caller=self.caller.metered(debit))

    def _one(self, sound: Sound, rate: int, stop: Event, wrong: list[Fault]) -> Listening:
        job = Job(stop)
        if not sound.size or float(np.abs(sound).max()) < SILENCE:
            return Listening("empty", note="silence, not sent", calls=0)
        if wrong:
            return Listening("failed", note=f"not sent: {wrong[0].note}", calls=0)
        body = {
            "model": self.caller.model,
            "file": ("sound.wav", _wav(sound, rate), "audio/wav"),
            "response_format": "verbose_json",
            "temperature": 0,
        }
        try:
            found = self.caller.ask(_transcriptions, body, job)
        except Fault as fault:
            if fault.kind == "misused":
                wrong.append(fault)
            status: Status = "refused" if fault.kind == "refused" else "failed"
            return Listening(status, note=fault.note, calls=job.calls)
        return _heard(found, sound.size / rate, job.calls)


def _transcriptions(client: Any) -> Any:
    return client.audio.transcriptions.with_streaming_response.create


def _wav(sound: Sound, rate: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes((np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes())
    return file.getvalue()


def _heard(found: Any, length_s: float, calls: int) -> Listening:
    """The stretches in a transcription's JSON; a text without segments is one stretch."""
    if not isinstance(found, dict) or not isinstance(found.get("text"), str):
        return Listening("failed", note="the server's answer holds no text", calls=calls)
    language = str(found.get("language") or "")
    segments = found.get("segments")
    if not isinstance(segments, list):
        segments = [{"start": 0.0, "end": length_s, "text": found["text"]}]
    stretches = tuple(
        heard for s in segments if isinstance(s, dict) and (heard := _one(s, length_s, language))
    )
    return Listening("ok" if stretches else "empty", stretches, calls=calls)


def _one(segment: dict[str, Any], length_s: float, language: str) -> Heard | None:
    text = " ".join(str(segment.get("text") or "").split())
    log_p = _number(segment.get("avg_logprob"), 0.0)
    if not text or (_number(segment.get("no_speech_prob"), 0.0) > NO_SPEECH and log_p < LOW):
        return None
    start_s = min(max(_number(segment.get("start"), 0.0), 0.0), length_s)
    end_s = min(max(_number(segment.get("end"), length_s), start_s), length_s)
    if end_s <= start_s:
        start_s, end_s = min(start_s, max(0.0, length_s - 0.1)), length_s
    return Heard(start_s, end_s, text, round(math.exp(min(0.0, log_p)), 4), language)


def _number(value: object, default: float) -> float:
    usable = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if usable else default  # type: ignore[arg-type]
