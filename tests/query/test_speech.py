"""Speech from real files over real HTTP: tones that the server can tell apart."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

import reeldb
from reeldb.database import Database
from tests.clips import Tone, make_clip, remux
from tests.faults import status
from tests.seeing import SeeingServer

SAID = {300: "we choose", 500: "to go", 700: "to the moon", 900: "and do the other things"}
TONES: list[Tone] = [
    (1.0, 2.0, 300),
    (12.0, 13.5, 500),
    (26.0, 27.0, 700),  # in the first two windows, in the core of the first
    (28.0, 29.0, 900),  # in both, in the core of the second
    (58.0, 59.0, 300),
]
ROWS = [(a, b, SAID[hz]) for a, b, hz in TONES]
SCENES = [("red", 20.0), ("blue", 20.0), ("green", 24.0)]
ALL = "SELECT start_s, end_s, text FROM speech WHERE model <> 'subtitle' ORDER BY start_s"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(
        tmp_path_factory.mktemp("speech") / "moon.mp4", SCENES, fps=5, sound=TONES, size=(96, 64)
    )


@pytest.fixture
def server() -> Iterator[SeeingServer]:
    with SeeingServer() as server:
        server.listener = lambda hz: SAID.get(hz, f"{hz} Hz")
        yield server


@pytest.fixture
def db(
    clip: Path, server: SeeingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Database:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text(
        f'["openai:listener"]\nbase_url = "{server.url}"\nattempts = 2\nbackoff_s = 0.01\n'
    )
    db = reeldb.open(tmp_path / "archive")
    db.add(clip, embedder="none")
    db.set_model("speech", "openai:listener")
    return db


def near(rows: list[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Times to the nearest 0.2 s: an encoder smears a tone's ends."""
    return [(round(a * 5) / 5, round(b * 5) / 5, text) for a, b, text in rows]


def test_what_is_said_is_heard_once_where_windows_overlap(
    db: Database, server: SeeingServer
) -> None:
    rows = db.sql(ALL).fetchall()
    assert [r[2] for r in rows] == [r[2] for r in ROWS]
    assert all(abs(x - y) <= 0.21 for r, s in zip(rows, ROWS, strict=True) for x, y in
               zip(r[:2], s[:2], strict=True))  # fmt: skip
    assert server.calls == 3
    assert db.sql(ALL).fetchall() == rows and server.calls == 3
    runs = db.sql("SELECT start_ms, end_ms, found, status FROM tool_runs ORDER BY 1").fetchall()
    assert runs == [(0, 30000, 3, "ok"), (25000, 55000, 1, "ok"), (50000, 80000, 1, "ok")]


def test_only_the_windows_that_a_statement_needs_are_sent(
    db: Database, server: SeeingServer
) -> None:
    assert len(db.sql("SELECT text FROM speech WHERE start_s < 15").fetchall()) == 2
    assert server.calls == 1
    text = db.sql("SELECT speech_text FROM scenes WHERE scene_no = 0").fetchall()
    assert text == [("we choose to go",)] and server.calls == 1
    db.sql("SELECT speech_text FROM scenes WHERE scene_no = 2")
    assert server.calls == 3


def test_copies_renamed_and_remuxed_share_what_was_heard(
    db: Database, server: SeeingServer, clip: Path, tmp_path: Path
) -> None:
    rows = db.sql(ALL).fetchall()
    db.add(remux(clip, tmp_path / "copy.mkv"), embedder="none")
    copied = db.sql(ALL.replace("WHERE", "WHERE video = 'copy.mkv' AND")).fetchall()
    assert [r[2] for r in copied] == [r[2] for r in rows]
    assert all(abs(a[0] - b[0]) <= 0.03 for a, b in zip(copied, rows, strict=True))
    assert server.calls == 3


def test_sound_that_starts_later_is_put_on_the_clock_of_the_pictures(
    db: Database, server: SeeingServer, tmp_path: Path
) -> None:
    later = make_clip(
        tmp_path / "later.mkv", [("red", 10.0)], fps=5, sound=TONES, size=(96, 64), start_s=11.0
    )
    db.add(later, embedder="none")
    rows = db.sql(ALL.replace("WHERE", "WHERE video = 'later.mkv' AND")).fetchall()
    assert [r[2] for r in rows] == ["to go"]  # the first tone is over when the picture comes
    assert abs(rows[0][0] - 1.0) <= 0.21


def test_files_without_sound_and_silence_make_no_call(
    db: Database, server: SeeingServer, tmp_path: Path
) -> None:
    db.add(make_clip(tmp_path / "mute.mp4", [("blue", 3.0)]), embedder="none")
    quiet = make_clip(tmp_path / "quiet.mp4", [("cyan", 3.0)], sound=[(9.0, 9.5, 300)])
    db.add(quiet, embedder="none")
    sql = "SELECT video, speech_text FROM scenes WHERE video <> 'moon.mp4' ORDER BY video"
    assert db.sql(sql).fetchall() == [("mute.mp4", ""), ("quiet.mp4", "")]
    assert db.sql("SELECT count(*) FROM speech WHERE video <> 'moon.mp4'").fetchall() == [(0,)]
    assert server.calls == 0
    runs = db.sql("SELECT video, status, note FROM tool_runs").fetchall()
    assert runs == [("quiet.mp4", "empty", "silence, not sent")]


def test_a_window_that_failed_is_null_and_is_tried_again(
    db: Database, server: SeeingServer
) -> None:
    server.always = status(500, "broken")
    result = db.sql("SELECT speech_text FROM scenes WHERE scene_no = 0")
    assert result.fetchall() == [(None,)] and any("speech failed" in n for n in result.notes)
    server.always = None
    db.engine.retry_after_s = 0
    assert db.sql("SELECT speech_text FROM scenes WHERE scene_no = 0").fetchall() == [
        ("we choose to go",)
    ]


def test_a_budget_counts_windows_and_goes_on_where_it_stopped(
    db: Database, server: SeeingServer
) -> None:
    result = db.sql(f"{ALL} BUDGET 1 CALLS")
    assert result.status == "partial" and result.stats["calls"] == server.calls == 1
    assert set(result.fetchall()) <= set(db.sql(ALL).fetchall())
    assert server.calls == 3


def test_cached_listens_to_nothing(db: Database, server: SeeingServer) -> None:
    db.sql("SET speech = 'cached'")
    result = db.sql("SELECT count(*) FROM speech")
    assert result.fetchall() == [(0,)] and any("SET speech" in n for n in result.notes)
    assert server.calls == 0


def test_threads_that_ask_for_the_same_windows_pay_once(db: Database, server: SeeingServer) -> None:
    server.latency_s = 0.05
    threads = [Thread(target=db.sql, args=(ALL,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.calls == 3


def test_processes_that_ask_for_the_same_windows_pay_once(
    db: Database, server: SeeingServer, tmp_path: Path
) -> None:
    server.latency_s = 0.2
    command = [sys.executable, "-m", "reeldb", "sql", ALL, "--archive", str(tmp_path / "archive"),
               "--format", "json"]  # fmt: skip
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    said = [p.communicate(timeout=120)[0] for p in running]
    found = [json.loads(text) for text in said]
    assert [len(rows) for rows in found] == [5, 5]
    assert server.calls == 3
    assert db.sql("SELECT count(*) FROM tool_runs").fetchall() == [(3,)]


def test_explain_counts_windows_and_fill_listens_to_all(
    db: Database, server: SeeingServer, tmp_path: Path
) -> None:
    plan = "\n".join(r[0] for r in db.sql("EXPLAIN SELECT text FROM speech WHERE start_s < 15"))
    assert "at most 1 looks" in plan and server.calls == 0
    plan = "\n".join(r[0] for r in db.sql("EXPLAIN SELECT speech_text FROM scenes"))
    assert "at most 3 looks" in plan and server.calls == 0
    command = [sys.executable, "-m", "reeldb", "fill", "--archive", str(tmp_path / "archive"),
               "moon.mp4", "--speech"]  # fmt: skip
    assert subprocess.run(command, capture_output=True, timeout=120).returncode == 0
    assert server.calls == 3
    db.sql(ALL)
    assert server.calls == 3
