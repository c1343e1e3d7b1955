"""Many captions at once: threads, processes, kills and faults, over real HTTP."""

from __future__ import annotations

import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import reeldb
from reeldb.database import Database
from reeldb.index.flight import Flights
from reeldb.schema.errors import ReelError
from tests.clips import remux
from tests.faults import Fault, completion, status
from tests.index.processes import finish, start
from tests.seeing import SeeingServer
from tests.timecode import stamped_clip
from tests.witness import Seen

COLOURS = ("red", "white", "blue", "black", "green", "white", "magenta", "black")
SCENES, WANTED, AT_ONCE = 60, 50, 8
STATEMENT = f"SELECT scene_no, caption FROM scenes WHERE scene_no < {WANTED}"
CLIENT = """
import sys
import reeldb
db = reeldb.open(sys.argv[1])
db.sql("SELECT count(*) FROM scenes WHERE start_s < 1").fetchall()  # what takes long to import
print("ready", flush=True)
sys.stdin.readline()
rows = db.sql(sys.argv[2]).fetchall()
print(sum(c is not None for _, c in rows))
"""


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("flow")
    scenes = [(COLOURS[i % len(COLOURS)], 1.0) for i in range(SCENES)]
    clip = stamped_clip(place / "many.mp4", 1, scenes)
    reeldb.open(place / "archive").add(clip, embedder="none")
    return place / "archive"


@pytest.fixture
def server() -> Iterator[SeeingServer]:
    with SeeingServer() as server:
        yield server


@pytest.fixture
def db(
    indexed: Path, server: SeeingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Database:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text(
        f'["openai:seer"]\nbase_url = "{server.url}"\nattempts = 1\n'
        f"timeout_s = 20\nconcurrency = {AT_ONCE}\n"
    )
    shutil.copytree(indexed, tmp_path / "archive")
    db = reeldb.open(tmp_path / "archive")
    db.set_model("captioner", "openai:seer")
    return db


def moments(server: SeeingServer) -> Counter[float]:
    """How often each scene was asked for."""
    return Counter(seen.times_s[0] for seen in server.requests)


def kept(db: Database) -> tuple[int, int]:
    """Rows and different keys of captions."""
    rows = db.sql("SELECT count(*), count(DISTINCT key) FROM captions").fetchall()
    return (int(rows[0][0]), int(rows[0][1]))


def no_claim_is_left(db: Database) -> bool:
    keys = [k for (k,) in db.sql("SELECT key FROM captions").fetchall()]
    with Flights(db.path).claim(keys) as mine:
        return mine == set(keys)


def test_nobody_waits_for_the_slowest_of_a_batch(db: Database, server: SeeingServer) -> None:
    many = threading.Event()
    answered: list[float] = []

    def slow(seen: Seen) -> str:
        if seen.times_s[0] < 1.0:
            return "late" if many.wait(10) else "never overtaken"
        answered.append(seen.times_s[0])
        if len(answered) > 3 * AT_ONCE:
            many.set()
        return "quick"

    server.witness = slow
    captions = [c for _, c in db.sql(STATEMENT).fetchall()]
    assert captions[0] == "late"
    assert len(captions) == server.calls == WANTED
    assert server.peak <= AT_ONCE
    assert no_claim_is_left(db)


def test_twenty_threads_that_want_the_same_captions_pay_once(
    db: Database, server: SeeingServer
) -> None:
    server.latency_s = 0.02
    results: list[list[object]] = []
    threads = [
        threading.Thread(target=lambda: results.append([*db.sql(STATEMENT).fetchall()]))
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 20 and all(r == results[0] for r in results)
    assert server.calls == WANTED
    assert kept(db) == (WANTED, WANTED)
    assert no_claim_is_left(db)


@pytest.mark.slow
def test_four_processes_that_want_the_same_captions_pay_once(
    db: Database, server: SeeingServer
) -> None:
    server.latency_s = 0.1
    crowd = [start(CLIENT, db.path, STATEMENT) for _ in range(4)]
    for process in crowd:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in crowd:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [int(finish(p, timeout_s=200)) for p in crowd] == [WANTED] * 4
    assert WANTED <= server.calls <= WANTED + 5
    assert kept(db) == (WANTED, WANTED)


@pytest.mark.slow
def test_a_kill_loses_the_batch_in_flight_and_the_next_statement_goes_on(
    db: Database, server: SeeingServer
) -> None:
    server.latency_s = 0.05
    process = start(CLIENT, db.path, STATEMENT)
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while server.calls < WANTED // 2 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.kill()
    process.communicate()
    time.sleep(2 * server.latency_s)  # the server ends what it was sent
    paid, written = server.calls, kept(db)
    assert written[0] == written[1] > 0
    assert no_claim_is_left(db)
    rows = db.sql(STATEMENT).fetchall()
    assert all(c for _, c in rows)
    lost = paid - written[0]
    assert server.calls == WANTED + lost
    assert lost <= AT_ONCE + AT_ONCE // 2  # in flight, and being written
    assert max(moments(server).values()) <= 2
    assert kept(db) == (WANTED, WANTED)


def test_what_was_paid_for_before_the_server_refused_is_kept(
    db: Database, server: SeeingServer
) -> None:
    honest = server.answer

    def answer(seen: Seen) -> Fault:
        if server.calls < 20:
            return honest(seen)
        server.requests.append(seen)
        return status(401, "Incorrect API key provided")

    server.answer = answer  # type: ignore[method-assign]
    with pytest.raises(ReelError, match=r"401|key"):
        db.sql(STATEMENT)
    assert 20 < server.calls <= 20 + AT_ONCE
    assert kept(db) == (20, 20)
    assert db.sql("SELECT count(*) FROM captions WHERE status <> 'ok'").fetchall() == [(0,)]
    server.answer = honest  # type: ignore[method-assign]
    server.requests.clear()
    assert all(c for _, c in db.sql(STATEMENT).fetchall())
    assert server.calls == WANTED - 20


def test_one_wrong_reply_in_a_flow_leaves_the_others(db: Database, server: SeeingServer) -> None:
    honest = server.answer

    def answer(seen: Seen) -> Fault:
        if 30 <= seen.times_s[0] < 33:
            server.requests.append(seen)
            return [Fault(body=completion("")), status(500), Fault(body=b'{"choices": [{"mes')][
                int(seen.times_s[0]) - 30
            ]
        return honest(seen)

    server.answer = answer  # type: ignore[method-assign]
    states = db.sql(
        "SELECT scene_no, caption_status(caption), caption FROM scenes "
        f"WHERE scene_no < {WANTED} ORDER BY scene_no"
    ).fetchall()
    wrong = {30: "empty", 31: "failed", 32: "failed"}
    assert [s for _, s, _ in states] == [wrong.get(n, "ok") for n, _, _ in states]
    assert [n for n, _, c in states if c is None] == [30, 31, 32]


def test_a_budget_of_captions_is_exact_in_a_flow(db: Database, server: SeeingServer) -> None:
    result = db.sql(f"SELECT scene_no, caption FROM scenes BUDGET {WANTED} CAPTIONS")
    assert (result.status, server.calls) == ("partial", WANTED)
    assert len(result.fetchall()) == WANTED
    assert db.sql("SELECT caption FROM scenes BUDGET 10 CAPTIONS").status == "complete"
    assert server.calls == SCENES


def test_a_budget_of_tokens_is_paid_before_more_is_begun(
    db: Database, server: SeeingServer
) -> None:
    result = db.sql(f"{STATEMENT} BUDGET 1 TOKENS")
    assert result.status == "partial"
    assert server.calls <= AT_ONCE


def test_rows_of_one_address_are_asked_for_once(
    db: Database, server: SeeingServer, indexed: Path, tmp_path: Path
) -> None:
    remux(indexed.parent / "many.mp4", tmp_path / "copy.mkv")
    assert [i.outcome for i in db.add(tmp_path / "copy.mkv").items] == ["copied"]
    rows = db.sql(f"SELECT caption FROM scenes WHERE scene_no < {WANTED}").fetchall()
    assert len(rows) == 2 * WANTED and all(c for (c,) in rows)
    assert server.calls == WANTED
