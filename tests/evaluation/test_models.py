"""Models as an axis of a run: compared side by side, and the archive keeps its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reeldb.database import Database
from reeldb.evaluation.run import run
from reeldb.evaluation.setting import Setting, models_of
from reeldb.evaluation.table import columns_of, comparisons, rows_of
from reeldb.schema.errors import EvaluationError, ModelError
from tests.evaluation.some import Some
from tests.made_bench import Bench
from tests.seeing import SeeingServer

Both = tuple[Database, SeeingServer]
UNIFORM = Setting("uniform(n => 8)")
DUMB = "captioner=fake:captioner?reply=nothing+to+see, vision=none, chat=none"


def test_models_are_compared_and_the_archive_keeps_its_own(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, server = truthful
    file, bench = tmp_path / "a.jsonl", Some(ten_minutes.folder)
    own = dict(db.models.roles)
    dumb = replace(UNIFORM, models=models_of(DUMB))
    done = run(db, bench, [UNIFORM, dumb], file)
    assert [dict(x.models)["vision"] for x in done.lines] == ["openai:seer"] * 5 + ["none"] * 5
    assert {x.reasoner for x in done.lines[5:]} == {"embedding"}
    assert sum(x.calls for x in done.lines[:5]) == server.calls > 0
    rows = [r for r in rows_of(done.lines) if r.kind == "all"]
    assert "models" in columns_of(rows)
    assert [r.models.split(", ")[-1] for r in rows] == ["vision=openai:seer", "vision=none"]
    assert "embedder" not in rows[0].models
    [told] = comparisons(done.lines)
    assert "vision=none" in told
    with Database(db.path) as again:
        assert dict(again.models.roles) == own == dict(db.models.roles)
    calls = server.calls
    assert run(db, bench, [UNIFORM, dumb], file).lines == done.lines
    assert server.calls == calls


def test_models_that_are_the_archives_own_are_one_setting(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, _ = truthful
    named = replace(UNIFORM, models=models_of("vision=openai:seer"))
    done = run(db, Some(ten_minutes.folder, count=2), [UNIFORM, named], tmp_path / "a.jsonl")
    assert len(done.lines) == 2
    assert "models" not in columns_of(rows_of(done.lines))


def test_a_model_that_cannot_be_is_refused_before_anything_is_asked(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, server = truthful
    file = tmp_path / "a.jsonl"
    for text in ("vision=nobody:x", "vision=builtin:tags"):
        with pytest.raises(ModelError):
            run(db, Some(ten_minutes.folder), [replace(UNIFORM, models=models_of(text))], file)
    assert server.calls == 0 and not file.exists()


def test_models_are_read_or_refused_by_name() -> None:
    assert models_of(" ") == ()
    assert models_of("chat=fake:chat?reply=a&fail=1,vision=none") == (
        ("chat", "fake:chat?reply=a&fail=1"), ("vision", "none"),
    )  # fmt: skip
    with pytest.raises(EvaluationError, match="captioner"):
        models_of("captoner=openai:a")
    with pytest.raises(EvaluationError, match="twice"):
        models_of("vision=openai:a,vision=openai:b")
    with pytest.raises(EvaluationError, match="ROLE=ADDRESS"):
        models_of("openai:a")
