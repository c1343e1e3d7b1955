from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reeldb.query.engine import Engine
from reeldb.query.frame_choice import METHODS, FrameChoice, chosen
from reeldb.schema.errors import BindError
from tests.query.test_lazy import engine_of
from tests.query.world import OpenFake, World, make_world

COLUMNS = ["video", "video_id", "t_s", "scene_no", "relevance", "choice_no"]


def test_the_rows_are_the_chosen_frames_in_time_order(engine: Engine) -> None:
    result = engine.sql("SELECT * FROM select_frames('a red car', k => 7, method => 'topk')")
    assert result.columns == COLUMNS
    rows = result.fetchall()
    assert [(r[0], r[2]) for r in rows] == sorted((r[0], r[2]) for r in rows)
    best = engine.sql(
        "SELECT video, t_s FROM frames WHERE on_grid "
        "ORDER BY similarity(image, 'a red car') DESC LIMIT 7"
    ).fetchall()
    assert [(r[0], r[2]) for r in sorted(rows, key=lambda r: r[5])] == best
    assert sorted(r[5] for r in rows) == list(range(7))


def test_uniform_is_even_over_the_video(engine: Engine) -> None:
    rows = engine.sql(
        "SELECT t_s FROM select_frames('x', k => 4, method => 'uniform', video => 'v0.mp4')"
    ).fetchall()
    assert [t for (t,) in rows] == [10.0, 35.0, 60.0, 85.0]


def test_the_default_is_diverse_and_of_32(engine: Engine) -> None:
    rows = engine.sql("SELECT count(*), count(DISTINCT choice_no) FROM select_frames('a dog')")
    assert rows.fetchone() == (32, 32)
    text = "\n".join(r[0] for r in engine.sql("EXPLAIN SELECT * FROM select_frames('a dog')"))
    assert "SelectFrames dpp, 32 by 'a dog': 32 rows" in text


def test_question_and_options_may_be_parameters(engine: Engine) -> None:
    sql = "SELECT count(*) FROM select_frames(?, k => ?, method => ?, video => ?)"
    assert engine.sql(sql, ["milk", 3, "topk", "v1.mp4"]).fetchone() == (3,)


def test_equal_choices_are_made_once_and_span_functions_take_them(engine: Engine) -> None:
    call = "select_frames('milk', k => 5, method => 'topk')"
    sql = f"SELECT count(*) FROM {call} a JOIN {call} b ON a.choice_no = b.choice_no"
    assert engine.sql(f"{sql} AND a.t_s = b.t_s").fetchone() == (5,)
    inside = engine.sql(f"SELECT count(*) FROM {call} c JOIN scenes s ON during(c, s)")
    assert inside.fetchone() == (5,)


def test_without_vectors_only_uniform_chooses(tmp_path: Path) -> None:
    engine = engine_of(make_world(tmp_path / "a", videos=1, scenes=4).archive, OpenFake,
                       embedder="fake:embedder?dim=64")  # fmt: skip
    with pytest.raises(BindError, match="chooses by vectors"):
        engine.sql("SELECT * FROM select_frames('x', method => 'topk')")
    rows = engine.sql("SELECT relevance FROM select_frames('x', k => 2, method => 'uniform')")
    assert rows.fetchall() == [(None,), (None,)]


def test_pictures_without_a_vector_are_never_chosen_by_relevance() -> None:
    relevance = np.array([0.1, np.nan, 0.9, 0.5])
    vectors = np.eye(4, dtype=np.float32)
    for method in ("topk", "dpp"):
        picked = chosen(FrameChoice("q", 4, method), relevance, lambda at: vectors[at])
        assert picked.tolist() == [2, 3, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("select_frames('x', method => 'best')", ", ".join(sorted(METHODS))),
        ("select_frames('x', k => 0)", "whole number from 1"),
        ("select_frames('x', k => 2.5)", "whole number from 1"),
        ("select_frames('x', n => 2)", "option 'n'"),
        ("select_frames('x', k => 2, k => 3)", "given twice"),
        ("select_frames()", "is written select_frames"),
        ("select_frames(k => 3)", "is written select_frames"),
        ("select_frames('  ')", "the question is a text"),
        ("select_frames('x', 'y')", "takes one question"),
        ("select_frames('x', video => 'nowhere.mp4')", "nowhere.mp4"),
        ("select_frames(upper('x'))", "literals and parameters"),
    ],
)
def test_what_is_written_wrongly_is_said(engine: Engine, call: str, message: str) -> None:
    with pytest.raises(BindError, match=message):
        engine.sql(f"SELECT * FROM {call}")


def test_it_stands_in_from_only(engine: Engine) -> None:
    with pytest.raises(BindError, match="stands in FROM"):
        engine.sql("SELECT select_frames('x')")


def test_its_captions_are_made_for_the_chosen_ones_only(world: World) -> None:
    result = world.engine().sql(
        "SELECT f.caption FROM select_frames('x', k => 5, method => 'topk') c "
        "JOIN frames f USING (video_id, t_s)"
    )
    assert result.stats["captions_made"] == result.row_count == 5
