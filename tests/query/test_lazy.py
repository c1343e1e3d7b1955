"""Lazy values on a real archive and its ledger: made once, kept, shared, retried."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from reeldb.index.archive import Archive
from reeldb.index.ledger import now
from reeldb.models.registry import Models
from reeldb.query.engine import Engine
from reeldb.schema.errors import BindError, MediaError
from reeldb.schema.models import Reply
from reeldb.schema.tables import TABLES
from tests.query.world import OpenFake, make_world

FILLED = "SELECT video, scene_no, caption FROM scenes WHERE start_s < 20 AND video < 'v2'"


class Red:
    """A file that shows nothing but red."""

    def __init__(self, path: str) -> None:
        if "gone" in path:
            raise MediaError(f"{path}: no such file")

    def at(self, times_s: Sequence[float], *, max_side: int | None = None) -> list[Any]:
        return [np.full((32, 32, 3), (255, 0, 0), np.uint8) for _ in times_s]

    def __exit__(self, *_: object) -> None:
        pass


def engine_of(archive: Archive, opener: Any = Red, **roles: str) -> Engine:
    models = {"captioner": "fake:captioner?batch=4", "ocr": "fake:ocr?text=HELLO", **roles}
    return Engine(archive, Models(models), opener)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return make_world(tmp_path / "archive", videos=3, scenes=4).archive


def calls(engine: Engine, role: Any = "captioner") -> int:
    model: Any = engine.models.get(role)
    return int(model.requests)


def test_a_caption_is_made_once_and_kept(archive: Archive) -> None:
    first = engine_of(archive)
    rows = first.sql(FILLED).fetchall()
    assert calls(first) == len(rows) == 4
    again = engine_of(archive)
    result = again.sql(FILLED)
    assert result.fetchall() == rows
    assert calls(again) == 0
    assert result.stats["captions_reused"] == 4


def test_another_model_pays_anew_and_leaves_old_rows_alone(archive: Archive) -> None:
    engine_of(archive).sql(FILLED)
    other = engine_of(archive, captioner="fake:captioner?reply=other")
    assert {r[2] for r in other.sql(FILLED)} == {"other"}
    assert calls(other) == 4
    counted = other.sql("SELECT model, count(*) FROM captions GROUP BY model ORDER BY 1")
    assert [n for _, n in counted] == [4, 4]


def test_copies_share_their_captions(archive: Archive) -> None:
    row = archive.store.read("videos").to_pylist()[0]
    copy = {**row, "video_id": "c" * 32, "ingest_id": "copy", "name": "copy.mp4"}
    for table in ("scenes", "frames"):
        rows = [r for r in archive.store.read(table).to_pylist() if r["ingest_id"] == "i0"]
        mine = [{**r, "video_id": "c" * 32, "ingest_id": "copy"} for r in rows]
        archive.store.append(table, pa.Table.from_pylist(mine, schema=TABLES[table]))
    copied = pa.Table.from_pylist([copy], schema=TABLES["videos"])
    archive.store.append("videos", copied)
    engine = engine_of(archive)
    sql = "SELECT video, caption FROM scenes WHERE video IN ('v0.mp4', 'copy.mp4')"
    assert engine.sql(sql).row_count == 8
    assert calls(engine) == 4
    shown = engine.sql("SELECT video, count(*) FROM captions GROUP BY video ORDER BY video")
    assert shown.fetchall() == [("copy.mp4", 4), ("v0.mp4", 4)]


def later(engine: Engine, seconds: float) -> Engine:
    """The engine, for which it is so much later."""
    engine.clock = lambda: now() + timedelta(seconds=seconds)
    return engine


def test_a_failed_caption_is_null_now_and_tried_again_after_a_pause(archive: Archive) -> None:
    engine = engine_of(archive)
    captioner: Any = engine.models.captioner()
    captioner.enqueue(Reply("failed", note="too busy"), Reply("refused"), Reply("empty"), "fine")
    result = engine.sql(FILLED)
    assert [r[2] for r in result] == [None, None, None, "fine"]
    assert any("too busy; tried again in 30 s" in n for n in result.notes)
    states = engine.sql(
        f"SELECT caption_status(caption) FROM scenes {FILLED[FILLED.index('WHERE') :]}"
    )
    assert [s for (s,) in states] == ["failed", "refused", "empty", "ok"]
    soon = later(engine_of(archive), 20)
    told = soon.sql(FILLED)
    assert [r[2] is None for r in told] == [True, True, True, False]
    assert told.status == "complete"
    assert any("1 caption failed a moment ago" in n and "again in 1" in n for n in told.notes)
    assert calls(soon) == 0
    again = later(engine_of(archive), 31)
    assert [r[2] is None for r in again.sql(FILLED)] == [False, True, True, False]
    assert calls(again) == 1


def test_a_failed_judgement_is_null_now_and_tried_again_after_a_pause(archive: Archive) -> None:
    sql = "SELECT matches(image, 'x') FROM scenes WHERE video = 'v0.mp4'"
    vision = "fake:vision?reply=Yes.&fail=2"
    first = engine_of(archive, OpenFake, vision=vision)
    assert [v for (v,) in first.sql(sql)] == [True, None, True, None]
    soon = later(engine_of(archive, OpenFake, vision=vision), 29)
    told = soon.sql(sql)
    assert [v for (v,) in told] == [True, None, True, None]
    assert any("2 judgements failed a moment ago" in n for n in told.notes)
    assert calls(soon, "vision") == 0
    again = later(engine_of(archive, OpenFake, vision="fake:vision?reply=Yes."), 31)
    assert [v for (v,) in again.sql(sql)] == [True] * 4
    assert calls(again, "vision") == 2


def test_within_a_statement_a_failure_is_never_tried_again(archive: Archive) -> None:
    engine = engine_of(archive, captioner="fake:captioner?fail=1&batch=2")
    columns = "s.caption, matches(s.caption, 'x'), (SELECT max(t.caption) FROM scenes t)"
    engine.models = Models({"captioner": "fake:captioner?fail=1&batch=2", "chat": "fake:chat"})
    engine.sql(f"SELECT {columns} FROM scenes s WHERE s.caption IS NULL OR s.caption LIKE 'x'")
    assert calls(engine) == 18


def test_a_missing_file_is_named_and_nothing_is_stored(archive: Archive) -> None:
    def gone(path: str) -> Red:
        return Red("gone" if path.endswith("v1.mp4") else path)

    engine = engine_of(archive, gone)
    result = engine.sql(FILLED)
    assert [r[2] is None for r in result] == [False, False, True, True]
    assert any("v1.mp4" in n for n in result.notes)
    assert engine.sql("SELECT count(*) FROM captions").fetchone() == (2,)
    assert all(r[2] for r in engine_of(archive).sql(FILLED))


def test_set_cached_reads_null_what_nobody_has_computed_and_says_so(archive: Archive) -> None:
    engine = engine_of(archive)
    engine.sql("SELECT caption FROM scenes WHERE video = 'v0.mp4' AND scene_no = 0")
    engine.sql("SET captions = 'cached'")
    result = engine.sql("SELECT scene_no, caption FROM scenes WHERE video = 'v0.mp4'")
    assert result.status == "complete"
    assert [text is None for _, text in result] == [False, True, True, True]
    assert result.stats["read_as_null"] == 3
    assert "3 values that nobody has computed were read as NULL" in result.notes[-1]
    assert "SET captions = 'lazy'" in result.notes[-1]
    missing = "SELECT count(*) FROM scenes WHERE caption IS NULL AND video = 'v0.mp4'"
    assert engine.sql(missing).fetchone() == (3,)
    assert calls(engine) == 1
    quiet = engine.sql(FILLED, cached=True)
    assert (quiet.row_count, quiet.status, quiet.notes) == (4, "complete", [])


def test_set_cached_holds_for_judgements_descriptions_and_looks(archive: Archive) -> None:
    engine = engine_of(archive, chat="fake:chat?reply=Yes.", vision="fake:vision?reply=Yes.")
    for name in ("captions", "ocr"):
        engine.sql(f"SET {name} = 'cached'")
    values = "matches(caption, 'x'), matches(image, 'x'), describe(image, 'x'), ocr_text"
    result = engine.sql(f"SELECT {values}, similarity(caption, 'x') FROM scenes LIMIT 2")
    assert result.status == "complete"
    assert result.fetchall() == [(None,) * 5] * 2
    assert engine.sql("SELECT count(*) FROM scenes WHERE matches(image, 'x')").fetchone() == (0,)
    assert sum(calls(engine, role) for role in ("captioner", "chat", "vision", "ocr")) == 0
    looked = engine.sql("SELECT text FROM ocr")
    assert (looked.row_count, looked.status) == (0, "complete")
    assert any("no rows of 36 pictures" in n for n in looked.notes)


def test_explain_tells_what_is_read_as_null(archive: Archive) -> None:
    engine = engine_of(archive)
    engine.sql("SET captions = 'cached'")
    lines = [r[0] for r in engine.sql("EXPLAIN SELECT caption FROM scenes LIMIT 3")]
    assert any("0 cached, 3 read as NULL, at most 0 to compute" in line for line in lines)
    assert any("nothing to compute" in line for line in lines)


def test_a_status_is_read_without_filling(archive: Archive) -> None:
    engine = engine_of(archive)
    sql = "SELECT count(*) FROM scenes WHERE caption_status(caption) = 'not computed'"
    assert engine.sql(sql).fetchone() == (18,)
    engine.sql("SELECT caption FROM scenes LIMIT 4")
    assert engine.sql(sql).fetchone() == (14,)
    assert calls(engine) == 4


def test_a_status_in_the_list_tells_what_the_statement_itself_filled(archive: Archive) -> None:
    rows = engine_of(archive).sql("SELECT caption, caption_status(caption) FROM scenes LIMIT 2")
    assert [s for _, s in rows] == ["ok", "ok"]


def test_frames_and_scenes_have_captions_of_their_own(archive: Archive) -> None:
    engine = engine_of(archive)
    engine.sql("SELECT caption FROM frames WHERE video = 'v0.mp4' AND t_s < 10")
    engine.sql("SELECT caption FROM scenes WHERE video = 'v0.mp4' AND scene_no = 0")
    kinds = engine.sql("SELECT kind, start_s, end_s, len(times_ms) FROM captions").fetchall()
    assert sorted(kinds) == [("clip", 0.0, 10.0, 2), ("frame", 0.0, 0.0, 1), ("frame", 5.0, 5.0, 1)]


def test_describe_keeps_its_answer_under_its_own_words(archive: Archive) -> None:
    engine = engine_of(archive)
    sql = "SELECT describe(image, '{}') FROM scenes WHERE video = 'v0.mp4' AND scene_no < 2"
    engine.sql(sql.format("what is written?"))
    engine.sql(sql.format("what is written?"))
    engine.sql(sql.format("who is there?"))
    assert calls(engine) == 4


def test_a_picture_is_looked_at_once_and_equal_ones_are_copied(archive: Archive) -> None:
    engine = engine_of(archive)
    sql = "SELECT t_s, text FROM ocr WHERE video = 'v0.mp4' AND t_s < 20"
    rows = engine.sql(sql).fetchall()
    assert rows == [(t, "HELLO") for t in (0.0, 5.0, 10.0, 15.0)]
    assert calls(engine, "ocr") == 1
    runs = engine.sql("SELECT start_ms, same_as_ms, found FROM tool_runs ORDER BY 1").fetchall()
    assert runs == [(0, None, 1), (5000, 0, 1), (10000, 0, 1), (15000, 0, 1)]
    again = engine_of(archive)
    assert again.sql(sql).fetchall() == rows
    assert calls(again, "ocr") == 0


def test_looking_and_finding_nothing_is_remembered(archive: Archive) -> None:
    engine = engine_of(archive, ocr="fake:ocr?on=blue")
    sql = "SELECT ocr_text FROM scenes WHERE video = 'v0.mp4' AND scene_no < 2"
    assert engine.sql(sql).fetchall() == [("",), ("",)]
    before = calls(engine, "ocr")
    assert engine.sql(sql).fetchall() == [("",), ("",)]
    assert calls(engine, "ocr") == before
    assert engine.sql("SELECT DISTINCT status FROM tool_runs").fetchall() == [("empty",)]


def test_ocr_text_and_ocr_rows_share_their_looks(archive: Archive) -> None:
    engine = engine_of(archive, OpenFake)
    engine.sql("SELECT ocr_text FROM scenes WHERE video = 'v0.mp4'")
    before = calls(engine, "ocr")
    engine.sql("SELECT text FROM ocr WHERE video = 'v0.mp4'")
    assert calls(engine, "ocr") == before == 8


def test_without_a_tool_stored_rows_come_with_a_note(archive: Archive) -> None:
    result = engine_of(archive).sql("SELECT count(*) FROM objects")
    assert result.fetchone() == (0,)
    assert any("reel models set objects" in n for n in result.notes)


def test_speech_text_is_null_only_where_nobody_listened(archive: Archive) -> None:
    result = engine_of(archive).sql(
        "SELECT video, scene_no, speech_text FROM scenes WHERE scene_no < 2 ORDER BY 1, 2"
    )
    assert result.fetchall() == [
        ("v0.mp4", 0, "milk is spilt"), ("v0.mp4", 1, "milk is spilt"),
        ("v1.mp4", 0, ""), ("v1.mp4", 1, ""), ("v2.mp4", 0, ""), ("v2.mp4", 1, "tea is made"),
    ]  # fmt: skip
    assert any("subtitles only" in n for n in result.notes)


@pytest.mark.parametrize(("column", "role"), [("caption", "chat"), ("image", "vision")])
def test_matches_without_its_model_names_the_role(archive: Archive, column: str, role: str) -> None:
    with pytest.raises(BindError, match=f"needs a {role} model .* reel models set {role}"):
        engine_of(archive).sql(f"SELECT 1 FROM scenes WHERE matches({column}, 'x')")


def test_an_unreadable_verdict_is_null_and_never_true(archive: Archive) -> None:
    engine = engine_of(archive, chat="fake:chat?reply=untrue")
    sql = "SELECT matches(caption, 'x') m FROM scenes WHERE video = 'v0.mp4'"
    assert engine.sql(sql).fetchall() == [(None,)] * 4
    engine = engine_of(archive, chat="fake:chat?reply=Yes.&reply=no")
    assert engine.sql(sql).fetchall() == [(True,), (False,), (True,), (False,)]
    assert engine.sql(sql).fetchall() == [(True,), (False,), (True,), (False,)]
    assert calls(engine, "chat") == 4


def test_caption_similarity_needs_captions_and_no_further_call(archive: Archive) -> None:
    engine = engine_of(archive, text_embedder="fake:text_embedder")
    sql = "SELECT similarity(caption, 'a red picture') s FROM scenes WHERE video = 'v0.mp4'"
    result = engine.sql(sql)
    assert all(0.3 < s <= 1 for (s,) in result)
    assert result.stats["calls"] == 4


def test_heavy_columns_are_read_for_the_rows_that_are_shown(archive: Archive) -> None:
    engine = engine_of(archive)
    shown = engine.sql("SELECT thumbnail FROM frames WHERE video = 'v1.mp4' LIMIT 2").fetchall()
    assert shown == [(b"1/0",), (b"1/5",)]
    vectors = engine.sql(
        "SELECT t_s, vector FROM embeddings ORDER BY video, t_s LIMIT 1"
    ).fetchall()
    assert len(vectors[0][1]) == 32


def test_threads_that_want_the_same_values_pay_for_them_once(archive: Archive) -> None:
    engine = engine_of(archive, OpenFake, ocr="fake:ocr?text=HELLO&seconds=0.002")
    statements = ["SELECT text FROM ocr WHERE t_s < 20", "SELECT caption FROM scenes"]
    threads = [Thread(target=engine.sql, args=(s,)) for s in statements * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls(engine, "ocr") == 12
    assert calls(engine) == 18
    assert engine.sql("SELECT count(*) FROM ocr WHERE t_s < 20").fetchone() == (12,)
