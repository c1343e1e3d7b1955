from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from reeldb.models.registry import Models
from reeldb.query.engine import Engine
from reeldb.query.result import Result
from reeldb.query.similar import picture_of
from reeldb.schema.errors import BindError, ParseError
from reeldb.schema.relations import RELATIONS
from tests.query.world import World


def test_show_tables_lists_every_relation(engine: Engine) -> None:
    assert [r[0] for r in engine.sql("SHOW TABLES")] == list(RELATIONS)


def test_describe_tells_which_columns_are_lazy(engine: Engine) -> None:
    kinds = {r[0]: r[2] for r in engine.sql("DESCRIBE scenes")}
    assert kinds["caption"] == "lazy"
    assert kinds["start_s"] == "stored"
    with pytest.raises(BindError, match="did you mean scenes"):
        engine.sql("DESCRIBE scene")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SET captionz = 'cached'", "did you mean captions"),
        ("SET captions = 'never'", "possible are lazy, cached"),
        ("SET statement_timeout = 'soon'", "give seconds"),
        ("SET memory_limit = '1TB'", "SET knows no 'memory_limit'"),
    ],
)
def test_set_takes_listed_names_and_values_only(engine: Engine, sql: str, message: str) -> None:
    with pytest.raises(BindError, match=message):
        engine.sql(sql)


def test_set_holds_for_the_connection_and_no_other(world: World) -> None:
    one, other = world.engine(), world.engine()
    one.sql("SET statement_timeout = 7")
    assert one.variables.statement_timeout == 7
    assert other.variables.statement_timeout == 30


# Parameters


def test_parameters_are_bound_by_place_number_and_name(engine: Engine) -> None:
    by_place = engine.sql(
        "SELECT count(*) FROM scenes WHERE video = ? AND scene_no < ?", ["v1.mp4", 3]
    )
    by_number = engine.sql(
        "SELECT count(*) FROM scenes WHERE scene_no < $2 AND video = $1", ["v1.mp4", 3]
    )
    by_name = engine.sql(
        "SELECT count(*) FROM scenes WHERE scene_no < $n AND video = $v", {"v": "v1.mp4", "n": 3}
    )
    assert by_place.fetchall() == by_number.fetchall() == by_name.fetchall() == [(3,)]


def test_a_parameter_that_only_part_of_the_plan_uses_is_no_trouble(engine: Engine) -> None:
    sql = "SELECT scene_no, caption, ? AS mark FROM scenes WHERE video = ? AND caption <> ? LIMIT ?"
    assert engine.sql(sql, ["x", "v1.mp4", "nothing", 2]).row_count == 2


@pytest.mark.parametrize(
    ("sql", "values", "message"),
    [
        ("SELECT ?", [], "no value for the parameter"),
        ("SELECT $name", {"nam": 1}, "did you mean nam"),
        ("SELECT 1", [5], "has no parameter number 1"),
        ("SELECT 1", {"x": 5}, r"has no parameter \$x"),
        ("SELECT video FROM scenes LIMIT ?", ["3"], "LIMIT and OFFSET take a whole number"),
        ("SELECT ?", "abc", "not one text"),
    ],
)
def test_parameters_that_do_not_fit_are_named(
    engine: Engine, sql: str, values: list[object], message: str
) -> None:
    with pytest.raises(BindError, match=message):
        engine.sql(sql, values)


def test_a_text_parameter_never_becomes_sql(engine: Engine) -> None:
    nasty = "v1.mp4' OR '1'='1"
    assert engine.sql("SELECT count(*) FROM scenes WHERE video = ?", [nasty]).fetchone() == (0,)


# similarity


def test_a_bound_text_and_a_bound_picture_search_alike(engine: Engine) -> None:
    text = engine.sql(
        "SELECT video, t_s FROM frames ORDER BY similarity(image, ?) DESC LIMIT 3", ["red"]
    )
    picture = np.full((40, 60, 3), (255, 0, 0), np.uint8)
    shown = engine.sql(
        "SELECT video, t_s, similarity(image, $p) s FROM frames ORDER BY s DESC LIMIT 3",
        {"p": picture},
    ).fetchall()
    assert text.row_count == 3
    assert [s for _, _, s in shown] == sorted((s for _, _, s in shown), reverse=True)


def test_what_is_no_picture_is_refused(engine: Engine) -> None:
    with pytest.raises(BindError, match="RGB uint8 array"):
        engine.sql("SELECT similarity(image, $p) FROM frames", {"p": np.zeros((3, 3))})
    with pytest.raises(BindError, match="must be a text"):
        engine.sql("SELECT describe(image, $p) FROM frames", {"p": 3})
    assert picture_of(np.zeros((2, 2, 3), np.uint8), "p").shape == (2, 2, 3)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT similarity(video, 'x') FROM scenes", "takes image or caption"),
        ("SELECT similarity(image) FROM scenes", "is written similarity"),
        ("SELECT similarity(image, video) FROM scenes", "is written similarity"),
        ("SELECT describe(caption, 'x') FROM scenes", "takes image of"),
        ("SELECT similarity(upper(caption), 'x') FROM scenes", "is computed"),
        ("SELECT similarity(c, 'x') FROM (SELECT upper(caption) c FROM scenes) d", "is computed"),
        ("SELECT select_frames('x')", "stands in FROM"),
    ],
)
def test_lazy_functions_say_what_they_take(engine: Engine, sql: str, message: str) -> None:
    with pytest.raises((BindError, ParseError), match=message):
        engine.sql(sql)


def test_an_archive_without_the_vectors_says_which_it_has(world: World) -> None:
    engine = world.engine()
    engine.models = Models({"embedder": "fake:embedder?dim=16"})
    with pytest.raises(BindError, match="none of"):
        engine.sql("SELECT similarity(image, 'x') FROM frames")
    assert not engine.has_vectors()


# Results


def test_a_result_reads_as_duckdbs_do(engine: Engine) -> None:
    result = engine.sql("SELECT video, scene_no FROM scenes WHERE video = 'v1.mp4' LIMIT 3")
    assert result.fetchone() == ("v1.mp4", 0)
    assert result.fetchall() == [("v1.mp4", 1), ("v1.mp4", 2)]
    assert result.fetchone() is None
    assert len(list(result)) == len(result) == 3
    assert result.columns == ["video", "scene_no"]
    assert result.types == ["VARCHAR", "INTEGER"]
    assert result.df().shape == (3, 2)
    assert "v1.mp4" in repr(result)
    assert "3 rows, complete" in repr(result)


def test_two_columns_of_one_name_both_come_through(engine: Engine) -> None:
    result = engine.sql("SELECT 1 AS a, 2 AS a")
    assert result.columns == ["a", "a"]
    assert result.fetchall() == [(1, 2)]
    assert result.arrow().column_names == ["a", "a_1"]


def test_types_have_duckdbs_names(engine: Engine) -> None:
    result = engine.sql(
        "SELECT settings, aliases, added_at, sum(bytes) OVER () s, 1.5, TRUE FROM videos LIMIT 1"
    )
    assert result.types == [
        "STRUCT(fps DOUBLE, detector VARCHAR, threshold DOUBLE, min_scene DOUBLE, scan VARCHAR)",
        "VARCHAR[]", "TIMESTAMP", "HUGEINT", "DECIMAL(2,1)", "BOOLEAN",
    ]  # fmt: skip


def test_an_empty_result_has_its_columns() -> None:
    assert Result.of(["a"], []).fetchall() == []


def test_rows_of_one_video_come_in_key_order_even_through_fills(engine: Engine) -> None:
    rows = engine.sql("SELECT video, scene_no, caption FROM scenes WHERE scene_no < 3").fetchall()
    assert [r[:2] for r in rows] == sorted(r[:2] for r in rows)


def test_a_cold_count_loads_no_decoder_and_no_network() -> None:
    code = (
        "import sys, reeldb.query.run, reeldb.query.explain, reeldb.query.partial\n"
        "heavy = 'av cv2 onnxruntime scenedetect lancedb torch tokenizers openai'.split()\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
