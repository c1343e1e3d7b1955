"""No value is made that the design does not call needed: exact counts on plain shapes."""

from __future__ import annotations

import pytest

from reeldb.query.engine import Engine
from tests.query.oracle import Oracle
from tests.query.world import World


def made(engine: Engine, sql: str) -> tuple[int, int]:
    stats = engine.sql(sql, budget={"calls": 10**6}).stats
    return int(stats["captions_made"]), int(stats["replies"])


@pytest.mark.parametrize(
    ("sql", "captions", "replies"),
    [
        ("SELECT video FROM scenes", 0, 0),
        ("SELECT count(*) FROM (SELECT * FROM scenes) d", 0, 0),
        ("SELECT caption FROM scenes WHERE start_s < 60", 72, 0),
        ("SELECT caption FROM scenes LIMIT 5", 5, 0),
        ("SELECT caption FROM scenes ORDER BY start_s DESC LIMIT 5", 5, 0),
        ("SELECT caption FROM scenes WHERE FALSE", 0, 0),
        ("SELECT CASE WHEN scene_no = 0 THEN caption END FROM scenes", 12, 0),
        ("SELECT coalesce('x', caption) FROM scenes", 0, 0),
        ("SELECT 1 FROM scenes WHERE scene_no >= 0 OR caption = 'x'", 0, 0),
        ("SELECT caption FROM scenes QUALIFY row_number() OVER (PARTITION BY video) = 1", 12, 0),
        ("SELECT caption FROM scenes UNION ALL SELECT caption FROM scenes", 156, 0),
        ("SELECT caption, caption, upper(caption) FROM scenes WHERE scene_no = 1", 12, 0),
        ("SELECT max(caption) FROM scenes WHERE video = 'v2.mp4'", 14, 0),
    ],
)
def test_only_needed_captions_are_made(
    engine: Engine, sql: str, captions: int, replies: int
) -> None:
    assert made(engine, sql) == (captions, replies)


def test_cheap_conditions_shield_dear_ones_whatever_their_order(world: World) -> None:
    parts = ["matches(caption, 'falls')", "video = 'v3.mp4'", "similarity(image, 'dog') > 0"]
    counts = set()
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        where = " AND ".join(parts[i] for i in order)
        counts.add(made(world.engine(), f"SELECT scene_no FROM scenes WHERE {where}"))
    assert len(counts) == 1
    captions, replies = counts.pop()
    assert 0 < replies <= captions < 16


def test_a_limit_goes_at_most_two_waves_beyond_the_last_row(world: World) -> None:
    sql = "SELECT video, scene_no FROM scenes WHERE matches(caption, 'falls')"
    order = Oracle(world, 0).run("SELECT video, scene_no FROM scenes ORDER BY video, scene_no")
    hits = sorted(Oracle(world, 0).run(sql))
    last = order.index(hits[4])
    result = world.engine().sql(f"{sql} LIMIT 5", budget={"calls": 10**6})
    assert result.fetchall() == hits[:5]
    wave = 16
    assert result.stats["captions_made"] <= last + 1 + 2 * wave


def test_a_ranking_is_filled_from_the_top_until_enough_rows_stand(world: World) -> None:
    ranked = (
        "SELECT video, scene_no FROM scenes WHERE matches(caption, 'common') "
        "ORDER BY similarity(image, 'a red car') DESC, video, scene_no LIMIT 3"
    )
    result = world.engine().sql(ranked, budget={"calls": 10**6})
    assert result.fetchall() == Oracle(world, 0).run(ranked)
    assert result.stats["captions_made"] <= 32
