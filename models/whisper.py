"""The `whisper:` adapter: speech to text on this machine by faster-whisper (CTranslate2).

`whisper:base`, `whisper:large-v3`, a hub name such as `whisper:Systran/faster-whisper-small`, or
`whisper:FOLDER` with a converted model in it. A voice activity filter (Silero, part of
faster-whisper) goes over the sound first, so silence, music and noise give no text.
"""

from __future__ import annotations

import math
import os
import string
from collections.abc import Mapping, Sequence
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

from reeldb.models.config import settings_for
from reeldb.models.torch.extras import optional
from reeldb.models.torch.hardware import AUTO
from reeldb.models.torch.settings import Settings, settings_of
from reeldb.models.torch.warm import warm
from reeldb.models.torch.weights import Source, source_of
from reeldb.schema.errors import ModelError
from reeldb.schema.models import Heard, Listening, Model, Role, Word

if TYPE_CHECKING:
    from reeldb.schema.models import Sound

RATE = 16_000  # Hz, the only one that Whisper reads
BEAM = 5
NO_SPEECH = 0.6  # with a log probability below LOW, Whisper's own sign of words in silence
LOW = -1.0
MOST_AT_ONCE = 4  # windows between two writes to the ledger: a killed run loses no more


def load(address: str, role: Role, config: Mapping[str, object]) -> Model:
    """The adapter at `whisper:NAME_OR_FOLDER`; opens no weights. Raises ModelError for another
    role than speech, a senseless setting, and a folder that is not there."""
    if role != "speech":
        raise ModelError(f"{address!r} cannot be the {role}: whisper: offers speech")
    settings = settings_of(address, config or settings_for(address))
    return WhisperSpeech(source_of(address, settings.revision), settings)


class WhisperSpeech:
    """`schema.models.SpeechTool`. The same sound gives the same text: no sampling."""

    can = "speech to text on this machine, in some 100 languages, with the times of words"
    cannot = "tell speakers apart; rare names are spelt by their sound"

    def __init__(self, source: Source, settings: Settings) -> None:
        self.address = source.address
        self.identity = f"{source.identity}, voice activity filter"
        self.source, self.settings = source, settings
        self.batch_size = min(settings.batch_size, MOST_AT_ONCE)
        self._lock = Lock()
        self._model: Any = None

    @property
    def model(self) -> Any:
        """The loaded model. Raises ModelError, with the cure, where it cannot be loaded."""
        if self._model is None:
            key = ("whisper", self.source.folder or self.source.name, self.settings)
            self._model = warm(key, lambda: _load(self.source, self.settings))
        return self._model

    def listen(self, sounds: Sequence[Sound], rate: int) -> list[Listening]:
        """One listening a sound. Raises ModelError where the model cannot be loaded."""
        if rate != RATE:
            raise ModelError(f"{self.address!r} reads sound at {RATE} Hz, not {rate}")
        with self._lock:
            return [self._one(sound) for sound in sounds]

    def _one(self, sound: Sound) -> Listening:
        if not sound.size:
            return Listening("empty")
        try:
            segments, info = self.model.transcribe(
                sound, beam_size=BEAM, temperature=0.0, vad_filter=True, word_timestamps=True,
                condition_on_previous_text=False,
            )  # fmt: skip
            heard = [_heard(s, str(info.language or "")) for s in segments]
        except (RuntimeError, MemoryError) as e:  # what CTranslate2 raises, out of memory too
            return Listening("failed", note=str(e).strip().split("\n")[0][:200])
        said = tuple(h for h in heard if h is not None)
        return Listening("ok" if said else "empty", said)


def _heard(segment: Any, language: str) -> Heard | None:
    text = " ".join(str(segment.text).split())
    if not any(c not in string.punctuation for c in text):
        return None
    if segment.no_speech_prob > NO_SPEECH and segment.avg_logprob < LOW:
        return None
    words = tuple(
        Word(float(w.start), float(w.end), w.word.strip())
        for w in segment.words or ()
        if w.word.strip()
    )
    confidence = round(math.exp(min(0.0, segment.avg_logprob)), 4)
    return Heard(float(segment.start), float(segment.end), text, confidence, language, words)


def _load(source: Source, settings: Settings) -> Any:
    whisper = optional("faster_whisper", source.address, "speech")
    device = settings.device
    if device == AUTO:
        device = "cuda" if import_module("ctranslate2").get_cuda_device_count() else "cpu"
    numbers = settings.dtype
    if numbers == AUTO:
        numbers = "int8" if device == "cpu" else "float16"
    try:
        return whisper.WhisperModel(
            str(source.folder or source.name), device=device, compute_type=numbers,
            cpu_threads=_cores(), revision=source.revision or None,
        )  # fmt: skip
    except (OSError, ValueError, RuntimeError) as e:
        first = next((line.strip() for line in str(e).splitlines() if line.strip()), "unknown")
        cure = "" if source.folder else "; without a network, download it and name its folder"
        raise ModelError(f"{source.address!r} cannot be loaded: {first[:300]}{cure}") from e


def _cores() -> int:
    """The cores that this process may use. CTranslate2 takes four threads by itself, and on two
    busy cores they wait for each other in loops: measured 94 s instead of 10 for one window."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, usable or 1)
