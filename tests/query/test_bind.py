from __future__ import annotations

import pytest

from reeldb.query.bind import bind
from reeldb.query.dialect import sql_of
from reeldb.query.engine import Engine
from reeldb.query.parse import Select, parse
from reeldb.schema.errors import BindError, PlanError


def names(sql: str) -> tuple[str, ...]:
    statement = parse(sql)
    assert isinstance(statement, Select)
    return bind(statement.tree, sql, lambda name: f"id of {name}").names


def refused(sql: str) -> str:
    with pytest.raises((BindError, PlanError)) as caught:
        names(sql)
    return str(caught.value)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT capton FROM scenes", "no column 'capton' (line 1, column 8); did you mean cap"),
        ("SELECT 1 FROM sceness", "no relation 'sceness' (line 1, column 15); did you mean sc"),
        ("SELECT s.foo FROM scenes s", "s has no column 'foo' (line 1, column 8)"),
        ("SELECT t.video FROM scenes s", "no relation 't' here (line 1, column 8); known: s"),
        ("SELECT video FROM scenes s, frames f", "ambiguous: write s.video or f.video"),
        ('SELECT "red car" FROM scenes', "a text stands in single quotes"),
        ("SELECT scenes FROM scenes", "is a relation, not a value"),
        ("SELECT image FROM scenes", "is a picture, not a value"),
        ("SELECT 1 FROM scenes, scenes", "two items of FROM are called 'scenes'"),
        ("SELECT 1 ORDER BY 3", "ORDER BY 3: the list has 1 columns"),
        ("SELECT video FROM scenes GROUP BY 0", "GROUP BY 0"),
        ("SELECT video FROM scenes LIMIT -5", "LIMIT -5: give a whole number"),
        ("SELECT video FROM scenes LIMIT 1.5", "LIMIT 1.5: give a whole number"),
        ("SELECT 1 FROM scenes a, frames b WHERE before(a, c)", "before(): no relation 'c' here"),
        ("SELECT 1 FROM scenes a, videos b WHERE before(a, b)", "b needs video_id and start_s"),
        ("SELECT 1 FROM scenes a WHERE within(a, a)", "within() takes 3 arguments"),
        ("SELECT video FROM scenes UNION SELECT video, 1 FROM scenes", "give 1 and 2 columns"),
        ("SELECT a FROM (SELECT 1 b) d", "no column 'a'"),
        ("SELECT * EXCLUDE (foo) FROM scenes", "no column 'foo'"),
        ("SELECT 1 FROM a.b.scenes", "is not"),
        ("SELECT d.x FROM (SELECT 1) d(x, y)", "d has 1 columns, not 2"),
        ("SELECT s.* FROM scenes t", "s.*: no such relation here"),
    ],
)  # fmt: skip
def test_errors_name_the_place_and_what_was_possible(sql: str, message: str) -> None:
    if "a.b.scenes" in sql:
        with pytest.raises(Exception, match="not available"):
            names(sql)
        return
    assert message in refused(sql)


def test_the_outermost_star_gives_stored_columns_only() -> None:
    assert names("SELECT * FROM scenes") == (
        "video", "video_id", "scene_no", "start_s", "end_s", "key_s",
    )  # fmt: skip
    assert "thumbnail" not in names("SELECT * FROM frames")
    assert "caption" not in names("SELECT * FROM (SELECT * FROM scenes) d")
    assert names("SELECT * FROM (SELECT video, caption FROM scenes) d") == ("video", "caption")
    assert "caption" not in names("SELECT * FROM scenes UNION SELECT * FROM scenes")


def test_a_star_in_a_derived_table_hands_lazy_columns_on_by_name() -> None:
    assert names("SELECT caption, ocr_text FROM (SELECT * FROM scenes) d") == (
        "caption", "ocr_text",
    )  # fmt: skip
    assert names("WITH c AS (SELECT * FROM frames) SELECT thumbnail FROM c") == ("thumbnail",)


def test_columns_keep_the_names_that_users_wrote() -> None:
    sql = 'SELECT count(*), sum(bytes) AS "Total Size", name Film, duration_s / 60 FROM videos'
    assert names(sql) == ("count(*)", "Total Size", "Film", "duration_s / 60")


def test_names_are_found_whatever_their_case() -> None:
    assert names("select VIDEO, s.Caption from SCENES S") == ("VIDEO", "Caption")


def test_using_joins_show_the_shared_column_once() -> None:
    shown = names("SELECT * FROM videos JOIN scenes USING (video_id)")
    assert shown.count("video_id") == 1
    assert shown.count("video") == 2


def test_a_video_is_an_id_in_the_tree_and_never_text() -> None:
    for name in ("it's; DROP TABLE x --", "a\nb", "../../etc", "ü"):
        sql = f'SELECT scene_no FROM "{name}".scenes'
        statement = parse(sql)
        assert isinstance(statement, Select)
        asked: list[str] = []
        bound = bind(statement.tree, sql, lambda n, a=asked: a.append(n) or "0a1b")  # type: ignore[misc]
        assert asked == [name]
        assert name not in sql_of(bound.tree)


def test_an_unknown_video_names_the_near_ones(engine: Engine) -> None:
    with pytest.raises(BindError, match=r"did you mean v1\.mp4"):
        engine.sql('SELECT scene_no FROM "v1.mp".scenes')


def test_ctes_that_multiply_are_refused_before_they_grow() -> None:
    entries = ["c0 AS (SELECT video FROM scenes)"]
    entries += [f"c{i} AS (SELECT a.video FROM c{i - 1} a, c{i - 1} b)" for i in range(1, 25)]
    assert "too large" in refused(f"WITH {', '.join(entries)} SELECT video FROM c24")


def test_types_are_checked_before_any_model_is_called(engine: Engine) -> None:
    with pytest.raises(BindError, match="No function matches"):
        engine.sql("SELECT caption + start_s FROM scenes")
    captioner = engine.models.captioner()
    assert captioner.requests == 0  # type: ignore[attr-defined]


def test_columns_can_be_asked_for_without_running(engine: Engine) -> None:
    assert engine.columns("SELECT video, caption c FROM scenes WHERE scene_no = ?", [1]) == [
        "video", "c",
    ]  # fmt: skip
