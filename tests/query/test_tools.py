"""Objects, actions and speech of a real file by fakes: made once, for what is asked, and kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import reeldb
from reeldb.database import Database
from reeldb.schema.models import Listening, Recognition
from tests.clips import make_clip, remux

SCENES = [("red", 3.0), ("blue", 4.0), ("black", 3.0)]
TOOLS = {
    "objects": "fake:objects?text=cat&text={colour}",
    "actions": "fake:actions",
    "speech": "fake:speech",
    "ocr": "fake:ocr?on=blue&text=HELLO",
}


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tones = [(1.0, 2.0, 300), (4.0, 5.0, 500)]
    return make_clip(tmp_path_factory.mktemp("tools") / "film.mp4", SCENES, fps=5, sound=tones)


@pytest.fixture
def db(clip: Path, tmp_path: Path) -> Database:
    db = reeldb.open(tmp_path / "archive")
    db.add(clip, embedder="none")
    for role, address in TOOLS.items():
        db.set_model(role, address)
    return db


def requests(db: Database) -> dict[str, int]:
    made = {role: db.models.get(role) for role in TOOLS}  # type: ignore[arg-type]
    return {role: int(m.requests) for role, m in made.items()}  # type: ignore[union-attr]


def test_actions_are_one_look_a_scene_and_empty_is_remembered(db: Database) -> None:
    sql = "SELECT start_s, end_s, label, confidence FROM actions"
    rows = db.sql(sql).fetchall()
    assert rows == [(0.0, 3.0, "red", 0.9), (3.0, 7.0, "blue", 0.9)]
    assert requests(db)["actions"] == 3
    assert db.sql(sql).fetchall() == rows and requests(db)["actions"] == 3
    runs = db.sql("SELECT start_ms, end_ms, status, found FROM tool_runs ORDER BY 1").fetchall()
    assert runs == [(0, 3000, "ok", 1), (3000, 7000, "ok", 1), (7000, 10000, "empty", 0)]


def test_an_action_tool_sees_sixteen_pictures_of_its_scene(db: Database) -> None:
    db.sql("SELECT label FROM actions WHERE start_s = 3")
    tool = db.models.actions()
    assert tool.history == [16]  # type: ignore[attr-defined]


def test_objects_are_one_look_a_picture_with_boxes(db: Database) -> None:
    rows = db.sql("SELECT t_s, line_no, label, y0, y1 FROM objects WHERE t_s BETWEEN 4 AND 5")
    assert rows.fetchall() == [
        (4.0, 0, "cat", 0.0, 0.5), (4.0, 1, "blue", 0.5, 1.0),
        (5.0, 0, "cat", 0.0, 0.5), (5.0, 1, "blue", 0.5, 1.0),
    ]  # fmt: skip
    assert requests(db)["objects"] == 1  # the second nearly equals the first


def test_tools_meet_in_one_statement(db: Database) -> None:
    rows = db.sql(
        "SELECT s.scene_no, a.label, p.text, s.ocr_text FROM scenes s "
        "JOIN actions a ON a.video_id = s.video_id AND a.start_s = s.start_s "
        "JOIN speech p ON overlaps(s, p) WHERE s.scene_no = 1"
    ).fetchall()
    assert rows == [(1, "blue", "a tone of 500 Hz", "HELLO")]
    assert requests(db)["actions"] == 1


def test_a_remuxed_copy_shares_looks_at_pictures_scenes_and_sound(
    db: Database, clip: Path, tmp_path: Path
) -> None:
    for relation in ("actions", "objects", "speech"):
        db.sql(f"SELECT * FROM {relation}")
    before = requests(db)
    db.add(remux(clip, tmp_path / "copy.mkv"), embedder="none")
    for relation in ("actions", "objects", "speech"):
        counts = db.sql(f"SELECT video, count(*) n FROM {relation} GROUP BY video").fetchall()
        assert len(counts) == 2 and len({n for _, n in counts}) == 1
    assert requests(db) == before


def test_another_model_looks_anew_and_leaves_old_rows_alone(db: Database) -> None:
    db.sql("SELECT * FROM actions")
    db.set_model("actions", "fake:actions?text=running")
    assert db.sql("SELECT DISTINCT label FROM actions").fetchall() == [("running",)]
    db.sql("SET actions = 'cached'")
    models = db.sql("SELECT DISTINCT model FROM actions ORDER BY 1").fetchall()
    assert models == [("fake:actions",), ("fake:actions?text=running",)]


def test_a_look_that_failed_gives_no_row_and_no_run_that_counts(db: Database) -> None:
    actions, speech = db.models.actions(), db.models.speech()

    def broken(stretches: object) -> list[Recognition]:
        return [Recognition("failed", note="out of memory")] * len(stretches)  # type: ignore[arg-type]

    def deaf(sounds: object, rate: int) -> list[Listening]:
        return [Listening("failed", note="no ear")] * len(sounds)  # type: ignore[arg-type]

    actions.recognise, speech.listen = broken, deaf  # type: ignore[method-assign]
    result = db.sql("SELECT label FROM actions")
    assert result.fetchall() == [] and any("out of memory" in n for n in result.notes)
    result = db.sql("SELECT text FROM speech")
    assert result.fetchall() == [] and any("no ear" in n for n in result.notes)
    assert db.sql("SELECT DISTINCT status FROM tool_runs").fetchall() == [("failed",)]


def test_a_budget_of_calls_counts_every_tool(db: Database) -> None:
    result = db.sql("SELECT count(*) FROM actions, speech BUDGET 2 CALLS")
    assert result.status == "partial" and result.stats["calls"] == 2
    assert sum(requests(db).values()) == 2


def test_explain_counts_the_looks_of_each_tool(db: Database) -> None:
    for relation, looks in (("actions", 3), ("objects", 10), ("speech", 1)):
        plan = "\n".join(r[0] for r in db.sql(f"EXPLAIN SELECT * FROM {relation}"))
        assert f"at most {looks} looks" in plan, plan
    assert sum(requests(db).values()) == 0
    db.sql("SELECT * FROM actions")
    plan = "\n".join(r[0] for r in db.sql("EXPLAIN SELECT * FROM actions"))
    assert "nothing to compute" in plan


def reel(db: Database, *args: str, log: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "reeldb",
        args[0],
        "--archive",
        str(db.archive.path),
        *args[1:],
    ]
    env = {**os.environ, **({"REEL_FAKE_LOG": str(log)} if log else {})}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)


def test_fill_looks_at_everything_once(db: Database, tmp_path: Path) -> None:
    log = tmp_path / "log"
    kinds = ("--ocr", "--speech", "--objects", "--actions")
    done = reel(db, "fill", "film.mp4", *kinds, log=log)
    assert done.returncode == 0, done.stderr
    made = Counter(line.split("?")[0] for line in log.read_text().splitlines())
    assert made["fake:actions"] == 3 and made["fake:speech"] == 1
    assert 3 <= made["fake:objects"] <= 10 and 3 <= made["fake:ocr"] <= 10
    assert f"{made.total()} looks made" in done.stderr
    reel(db, "fill", "film.mp4", *kinds, log=log)
    assert len(log.read_text().splitlines()) == made.total()
    for relation in ("ocr", "objects", "actions", "speech"):
        db.sql(f"SELECT * FROM {relation}")
    assert sum(requests(db).values()) == 0


def test_models_shows_what_the_tools_can_and_how_to_get_them(db: Database) -> None:
    db.set_model("actions", "none")
    rows = json.loads(reel(db, "models", "--format", "json").stdout)
    told = {r["role"]: r for r in rows}
    assert told["speech"]["address"] == "fake:speech" and told["speech"]["cannot"]
    assert told["actions"]["address"] == "none"
    assert "reel models set actions" in told["actions"]["better"]
    assert "videomae" in told["actions"]["better"]


def test_processes_look_at_each_scene_and_window_once(db: Database, tmp_path: Path) -> None:
    log = tmp_path / "log"
    db.set_model("actions", "fake:actions?seconds=0.3")
    statement = "SELECT a.label, p.text FROM actions a, speech p"
    command = [sys.executable, "-m", "reeldb", "sql", statement, "--archive", str(db.archive.path)]
    env = {**os.environ, "REEL_FAKE_LOG": str(log)}
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, env=env) for _ in range(2)]
    assert [p.wait(timeout=120) for p in running] == [0, 0]
    assert Counter(log.read_text().split()) == {"fake:actions": 3, "fake:speech": 1}
