"""A statement that is run again is not planned again, and still sees what has changed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from reeldb.query import prepare as preparing
from reeldb.query.engine import Engine
from tests.archives import make_archive, synthetic_video
from tests.query.world import World, make_world

CAPTIONS = "SELECT video, start_s, caption FROM scenes WHERE start_s < 30"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return make_world(tmp_path, videos=3, scenes=4).engine(forgets=False)


def test_the_same_text_is_planned_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    first = engine.sql(CAPTIONS)
    monkeypatch.setattr(preparing, "plan_of", None)  # planning again would fail
    again = engine.sql(CAPTIONS)
    assert again.fetchall() == first.fetchall()
    assert first.stats["captions_made"] == again.stats["captions_reused"] == len(first)


def test_a_new_video_or_setting_is_seen(engine: Engine) -> None:
    count = "SELECT count(*), count(caption) FROM scenes BUDGET 0 CAPTIONS"
    before = engine.sql("SELECT count(*) FROM scenes").fetchall()
    name = 'SELECT count(*) FROM "new.mp4".scenes'
    with pytest.raises(Exception, match=r"new\.mp4"):
        engine.sql(name)
    make_archive(engine.archive.path, [synthetic_video("new.mp4", space=None)])
    assert engine.sql("SELECT count(*) FROM scenes").fetchall() == [(before[0][0] + 2,)]
    assert engine.sql(name).fetchall() == [(2,)]
    assert engine.sql(count).status == "partial"
    engine.variables = engine.variables.with_value("captions", "cached")
    assert engine.sql(count).status == "complete"


def test_now_is_now_every_time(engine: Engine) -> None:
    first = engine.sql("SELECT now()").fetchall()
    time.sleep(0.01)
    assert engine.sql("SELECT now()").fetchall() > first


def test_parameters_are_those_of_each_run(engine: Engine) -> None:
    statement = "SELECT count(*) FROM scenes WHERE start_s < ?"
    assert engine.sql(statement, [10]).fetchall() != engine.sql(statement, [30]).fetchall()


def test_captions_of_most_rows_are_those_of_each_row(tmp_path: Path) -> None:
    world: World = make_world(tmp_path, videos=3, scenes=4)
    engine = world.engine(forgets=False)
    made = engine.sql("SELECT video, start_s, caption FROM scenes").fetchall()
    fresh = world.engine(forgets=False)
    for where in ("TRUE", "start_s >= 10", "start_s < 10", "video = 'v1.mp4'"):
        rows = fresh.sql(f"SELECT video, start_s, caption FROM scenes WHERE {where}")
        assert rows.stats["captions_made"] == 0
        assert set(rows.fetchall()) <= set(made)
