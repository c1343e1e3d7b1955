"""No value is made that the design does not call needed: exact counts on plain shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reeldb.index.ledger import CaptionRow, Ledger, ReplyRow
from reeldb.query.engine import Engine
from tests.query.oracle import Oracle
from tests.query.world import Says, TestChat, World, make_world, roll


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


class Rated(Says):
    """Statements say how often they are true: 'in 0.1 of all'."""

    def verdict(self, statement: str, about: str) -> str:
        return "yes" if roll("v", statement, about) < float(statement.split()[1]) else "no"


def rated(world: World) -> Engine:
    engine = world.engine()
    models: Any = engine.models
    for role in ("chat", "vision"):
        models.made[role] = TestChat(Rated(0), role)
    return engine


def test_of_two_thousand_scenes_one_in_ten_true_few_are_looked_at(tmp_path: Path) -> None:
    world = make_world(tmp_path / "archive", videos=20, scenes=97)
    engine = rated(world)
    sql = "SELECT video, scene_no FROM scenes WHERE matches({}, 'in 0.1 of all') LIMIT 5"
    judged = engine.sql(sql.format("image"), budget={"calls": 10**6})
    every = engine.sql("SELECT video, scene_no FROM scenes").fetchall()
    assert len(every) == 2000
    wave = 16
    fifth = every.index(judged.fetchall()[4]) + 1
    assert 5 <= fifth <= judged.stats["replies"] <= fifth + 2 * wave
    engine = rated(world)
    described = engine.sql(sql.format("caption"), budget={"calls": 10**6})
    fifth = every.index(described.fetchall()[4]) + 1
    assert described.stats["captions_made"] <= fifth + 2 * wave
    assert described.stats["replies"] <= fifth + 2 * wave


@pytest.mark.parametrize("limit", ["", " LIMIT 3"])
def test_what_drops_most_rows_shields_the_rest_whatever_the_order_in_the_text(
    world: World, limit: str
) -> None:
    parts = ["matches(image, 'in 0.95 of all')", "matches(image, 'in 0.05 of all')"]
    found, counts = set(), []
    for where in (" AND ".join(parts), " AND ".join(reversed(parts))):
        sql = f"SELECT video, scene_no FROM scenes WHERE {where}{limit}"
        result = rated(world).sql(sql, budget={"calls": 10**6})
        found.add(tuple(result.fetchall()))
        counts.append(result.stats["replies"])
    assert len(found) == 1
    assert max(counts) < 156 * 1.3  # one judges nearly all, the other only what is left


@pytest.mark.parametrize(("dear", "captions", "replies"), [("vision", 156, 156), ("chat", 8, 156)])
def test_the_seconds_that_were_measured_decide_what_is_asked_first(
    tmp_path: Path, dear: str, captions: int, replies: int
) -> None:
    world = make_world(tmp_path / "archive")
    models: Any = rated(world).models
    seconds = {"captioner": 0.01, "chat": 0.01, "vision": 0.01} | {dear: 9.0}
    ledger = Ledger(world.archive)
    ledger.put_captions(
        [CaptionRow("k", "content0", "clip", 0, 1, [0], "x", models.captioner().identity, "p", "ok",
                    seconds=seconds["captioner"])]
    )  # fmt: skip
    for role in ("chat", "vision"):
        identity = models.get(role).identity
        ledger.put_replies([ReplyRow(role, role, identity, "yes", "ok", seconds=seconds[role])])
    sql = (
        "SELECT video FROM scenes WHERE matches(caption, 'in 0.02 of all') "
        "AND matches(image, 'in 0.02 of all')"
    )
    result = rated(world).sql(sql, budget={"calls": 10**6})
    assert result.stats["replies"] <= replies + 16
    if dear == "vision":  # the captions and their judgements come first and drop nearly all
        assert result.stats["captions_made"] == captions
    else:
        assert result.stats["captions_made"] <= captions + 16


def test_a_ranking_is_filled_from_the_top_until_enough_rows_stand(world: World) -> None:
    ranked = (
        "SELECT video, scene_no FROM scenes WHERE matches(caption, 'common') "
        "ORDER BY similarity(image, 'a red car') DESC, video, scene_no LIMIT 3"
    )
    result = world.engine().sql(ranked, budget={"calls": 10**6})
    assert result.fetchall() == Oracle(world, 0).run(ranked)
    assert result.stats["captions_made"] <= 32


@pytest.mark.parametrize(
    ("sql", "looks"),
    [
        # eight of twelve videos have sound, two of them share one: seven sounds
        ("SELECT text FROM speech WHERE start_s < 20", 7),
        ("SELECT text FROM speech WHERE start_s < 20 AND video = 'v4.mp4'", 1),
        ("SELECT text FROM speech WHERE start_s < 20 AND video = 'v0.mp4'", 0),
        ("SELECT text FROM speech WHERE end_s < 20 AND video IN ('v1.mp4', 'v4.mp4')", 1),
        ("SELECT text FROM speech WHERE start_s BETWEEN 60 AND 62 AND video = 'v1.mp4'", 1),
        ("SELECT text FROM speech WHERE NOT (start_s > 20 OR end_s < 5) AND video = 'v1.mp4'", 1),
        ("SELECT text FROM speech WHERE video = 'v1.mp4'", 5),
        ("SELECT speech_text FROM scenes WHERE video = 'v1.mp4' AND scene_no < 2", 1),
        ("SELECT speech_text FROM scenes WHERE video = 'v1.mp4' AND scene_no = 2", 2),
        ("SELECT speech_text FROM scenes WHERE video = 'v0.mp4'", 0),
        ("SELECT s.video FROM scenes s JOIN speech p ON overlaps(s, p) "
         "WHERE s.video = 'v2.mp4' AND s.scene_no = 0 AND p.text = 'x'", 1),
        ("SELECT p.text, s.scene_no FROM speech p LEFT JOIN scenes s ON overlaps(s, p) "
         "WHERE p.start_s < 20 AND p.video = 'v1.mp4'", 1),
        ("SELECT video, video FROM speech", 40),
        ("SELECT label FROM actions WHERE video = 'v1.mp4' AND end_s <= 30", 3),
        ("SELECT label FROM actions WHERE video = 'v1.mp4' AND label LIKE 'd%'", 12),
        ("SELECT label FROM objects WHERE video = 'v1.mp4' AND t_s < 20", 4),
        ("SELECT count(*) FROM actions WHERE FALSE", 0),
    ],
)  # fmt: skip
def test_only_needed_looks_are_taken(engine: Engine, sql: str, looks: int) -> None:
    stats = engine.sql(sql).stats
    assert stats["looks"] == stats["calls"] == looks


def test_a_limit_stops_listening(world: World) -> None:
    sql = (
        "SELECT video, start_s, text FROM speech WHERE model <> 'subtitle' ORDER BY start_s LIMIT 3"
    )
    result = world.engine().sql(sql)
    assert result.row_count == 3
    assert result.stats["looks"] <= 16  # one wave, of 40 windows
