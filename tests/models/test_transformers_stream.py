"""Captions whose pictures are decoded while the model works on those before."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import reeldb
from reeldb.database import Database
from reeldb.models.registry import load
from reeldb.models.transformers.captioner import TransformersCaptioner
from reeldb.query.fillers.captions import Captions
from reeldb.schema.errors import ModelError
from reeldb.schema.models import CaptionRequest, Streaming
from tests.clips import make_clip
from tests.models import tiny
from tests.models.test_ahead import none_is_left
from tests.models.tiny import picture

pytest.importorskip("torch")
pytest.importorskip("transformers")

BATCH = 2
COLOURS = ("red", "blue", "green", "white", "black", "yellow", "magenta")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.qwen_vl(tmp_path_factory.mktemp("stream") / "tiny")


@pytest.fixture
def captioner(folder: Path) -> TransformersCaptioner:
    model = load(f"transformers:{folder}", "captioner", {"max_tokens": 4, "batch_size": BATCH})
    assert isinstance(model, TransformersCaptioner)
    return model


def requests(count: int) -> list[CaptionRequest]:
    return [CaptionRequest([picture(i)], [float(i)], "describe " * (i + 1)) for i in range(count)]


def test_a_stream_gives_what_one_batch_gives(captioner: TransformersCaptioner) -> None:
    assert isinstance(captioner, Streaming)
    asked = requests(5)
    assert list(captioner.stream(asked)) == list(enumerate(captioner.caption(asked)))
    assert list(captioner.stream([])) == []
    assert none_is_left()


def test_decoding_of_a_batch_begins_before_the_replies_of_the_last_come_out(
    captioner: TransformersCaptioner, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = [threading.Event() for _ in range(3 * BATCH)]
    overlapped: list[bool] = []
    generate = captioner.network.model.generate

    def decoded() -> Iterator[CaptionRequest]:
        for event, request in zip(begun, requests(len(begun)), strict=True):
            event.set()
            yield request

    def watched(**inputs: Any) -> Any:
        number = len(overlapped)
        following = begun[BATCH * (number + 1) : BATCH * (number + 2)]
        overlapped.append(all(event.wait(20) for event in following))
        return generate(**inputs)

    monkeypatch.setattr(captioner.network.model, "generate", watched)
    assert [place for place, _ in captioner.stream(decoded())] == list(range(len(begun)))
    assert overlapped == [True] * 3


def test_an_error_of_the_requests_comes_after_the_replies_before_it(
    captioner: TransformersCaptioner,
) -> None:
    def decoded() -> Iterator[CaptionRequest]:
        yield from requests(BATCH + 1)
        raise ModelError("the disk is gone")

    replies = []
    with pytest.raises(ModelError, match="the disk is gone"):
        for place, _ in captioner.stream(decoded()):
            replies.append(place)
    assert replies == list(range(BATCH + 1))
    assert none_is_left()


def test_an_error_of_the_model_comes_after_the_replies_before_it(
    captioner: TransformersCaptioner, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = captioner.caption

    def third_goes_wrong(batch: list[CaptionRequest]) -> Any:
        if batch[0].times_s[0] >= 2 * BATCH:
            raise ModelError("the device is lost")
        return own(batch)

    monkeypatch.setattr(captioner, "caption", third_goes_wrong)
    stream, places = captioner.stream(requests(4 * BATCH)), []
    with pytest.raises(ModelError, match="the device is lost"):
        for place, _ in stream:
            places.append(place)
    assert places == list(range(2 * BATCH))
    assert none_is_left()


def test_stopping_early_leaves_no_thread_behind(captioner: TransformersCaptioner) -> None:
    stream = captioner.stream(requests(5 * BATCH))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert none_is_left()


@pytest.fixture
def db(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    config = tmp_path / "config.toml"
    config.write_text(f"[transformers]\nmax_tokens = 4\nbatch_size = {BATCH}\n")
    monkeypatch.setenv("REELDB_CONFIG", str(config))
    db = reeldb.open(tmp_path / "archive")
    scenes = [(colour, 1.0) for colour in COLOURS]
    db.add(make_clip(tmp_path / "a.mp4", scenes), embedder="none")
    db.set_model("captioner", f"transformers:{folder}")
    return db


STATEMENT = "SELECT scene_no, caption FROM scenes ORDER BY scene_no"


def test_captions_of_an_archive_are_the_same_with_and_without_a_stream(
    db: Database, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flowed: list[int] = []
    own = TransformersCaptioner.stream

    def counted(self: TransformersCaptioner, requests: Any) -> Any:
        for place, reply in own(self, requests):
            flowed.append(place)
            yield place, reply

    monkeypatch.setattr(TransformersCaptioner, "stream", counted)
    streamed = db.sql(STATEMENT).fetchall()
    assert flowed == list(range(len(COLOURS)))
    assert none_is_left()
    monkeypatch.delattr(TransformersCaptioner, "stream")
    other = reeldb.open(tmp_path / "other")
    other.add(tmp_path / "a.mp4", embedder="none")
    other.set_model("captioner", f"transformers:{folder}")
    assert other.sql(STATEMENT).fetchall() == streamed
    assert len(flowed) == len(COLOURS) == len(streamed)
    assert all(caption for _, caption in streamed)


def test_captions_made_before_an_error_are_kept_and_no_thread_is_left(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, read = Captions.request, []

    def breaks(self: Captions, row: int) -> Any:
        read.append(row)
        if len(read) > 2 * BATCH:
            raise ModelError("the disk is gone")
        return own(self, row)

    monkeypatch.setattr(Captions, "request", breaks)
    with pytest.raises(ModelError, match="the disk is gone"):
        db.sql(STATEMENT)
    assert none_is_left()
    kept = db.sql("SELECT count(*), count(DISTINCT key) FROM captions").fetchall()
    assert kept == [(2 * BATCH, 2 * BATCH)]
