"""Every strategy over a made benchmark: the same to the digit, and killed and gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from reeldb.database import Database
from reeldb.evaluation.line import read_run
from reeldb.evaluation.run import Run, run
from reeldb.evaluation.setting import Setting
from reeldb.evaluation.table import Row, rows_of
from tests.evaluation.some import Some, without_time
from tests.made_bench import Bench, asked
from tests.seeing import SeeingServer
from tests.witness import Seen

pytest.importorskip("pydantic_monty")
STRATEGIES = ("uniform", "topk(k => 8)", "dpp(n => 8)", "tree", "descent", "mapreduce",
              "recursive", "auto")  # fmt: skip
SETTINGS = [Setting(s) for s in STRATEGIES]
QUESTIONS = 2
ROOT = Path(__file__).resolve().parents[2]
LOST = 12  # a batch and a half of captions: the most that a kill loses
HALF = len(SETTINGS) * QUESTIONS // 2


RUN = """
import os, signal, sys
from pathlib import Path
import reeldb
from reeldb.evaluation.setting import Setting
from reeldb.evaluation.run import run
from reeldb.models.registry import LOADERS
from tests.evaluation.some import Some

LOADERS["seeing"] = "tests.made_eyes:load"
archive, folder, file, count, stop, *strategies = sys.argv[1:]

def told(what, done, of):
    if what == "questions" and done == int(stop):
        os.kill(os.getpid(), signal.SIGKILL)

bench = Some(Path(folder), count=int(count))
run(reeldb.open(archive), bench, [Setting(s) for s in strategies], Path(file), told=told)
"""


@dataclass(frozen=True)
class Whole:
    """A run of all strategies that nothing stopped, and what the server was sent for it."""

    run: Run
    sent: Counter[str]


@contextmanager
def fresh(
    bench: Bench, place: Path, patch: pytest.MonkeyPatch
) -> Iterator[tuple[Database, SeeingServer]]:
    """A copy of the archive with no caption yet. On-screen text, which a model of this machine
    reads, is left out: it is slow, and no call of the server."""
    with asked(bench, place, patch) as (db, server):
        db.set_model("ocr", "none")
        yield db, server


def sent(server: SeeingServer) -> Counter[str]:
    return Counter(json.dumps(s.body, sort_keys=True) for s in server.requests)


def started(
    db: Database, bench: Bench, file: Path, strategies: Sequence[str], stop: int, count: int
) -> subprocess.Popen[bytes]:
    """The run as a process of its own that kills itself after `stop` questions (0: never)."""
    argv = [db.path, bench.folder, file, count, stop, *strategies]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-c", RUN, *map(str, argv)], env=environ, cwd=ROOT)


@pytest.fixture(scope="module")
def whole(ten_minutes: Bench, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    place = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch, fresh(ten_minutes, place, patch) as (db, server):
        done = run(db, Some(ten_minutes.folder, count=QUESTIONS), SETTINGS, place / "a.jsonl")
        return Whole(done, sent(server))


def test_every_strategy_answers_and_every_call_is_counted(whole: Whole) -> None:
    lines = whole.run.lines
    assert list(dict.fromkeys(x.strategy for x in lines)) == list(STRATEGIES)
    assert len(lines) == len(SETTINGS) * QUESTIONS
    assert {x.status for x in lines} <= {"complete", "insufficient"}
    assert all(any(x.right for x in lines if x.strategy == s) for s in STRATEGIES if s != "tree")
    assert sum(x.calls for x in lines) == sum(whole.sent.values()) > 100
    assert set(whole.sent.values()) == {1}


def test_a_second_run_in_a_fresh_archive_is_the_same_to_the_digit(
    whole: Whole, ten_minutes: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Some(ten_minutes.folder, count=QUESTIONS)
    with fresh(ten_minutes, tmp_path, monkeypatch) as (db, server):
        again = run(db, bench, SETTINGS, tmp_path / "a.jsonl")
        assert sent(server) == whole.sent
    assert without_time(again) == without_time(whole.run)
    assert table(again) == table(whole.run)


def test_killed_at_half_and_gone_on_with_is_the_same_table_and_no_call_twice(
    whole: Whole, ten_minutes: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.jsonl"
    with fresh(ten_minutes, tmp_path, monkeypatch) as (db, server):
        with started(db, ten_minutes, file, STRATEGIES, HALF, QUESTIONS) as process:
            assert process.wait(300) == -signal.SIGKILL
        first = read_run(file)
        assert len(first) == HALF and 0 < server.calls < sum(whole.sent.values())
        rest = run(db, Some(ten_minutes.folder, count=QUESTIONS), SETTINGS, file)
        assert rest.asked == len(SETTINGS) * QUESTIONS - HALF
        assert sent(server) == whole.sent
    assert list(rest.lines[:HALF]) == first
    assert without_time(rest) == without_time(whole.run)
    assert table(rest) == table(whole.run)


def test_killed_in_the_midst_of_a_question_only_its_open_calls_are_sent_again(
    whole: Whole, ten_minutes: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, tree = tmp_path / "a.jsonl", SETTINGS[STRATEGIES.index("tree")]
    with fresh(ten_minutes, tmp_path, monkeypatch) as (db, server):
        witness, running = server.witness, list[subprocess.Popen[bytes]]()

        def kills(seen: Seen) -> str:
            if server.calls >= 40:
                for process in running:
                    process.kill()
            return witness(seen)

        server.witness = kills
        with started(db, ten_minutes, file, [tree.strategy], 0, QUESTIONS) as process:
            running.append(process)
            assert process.wait(300) == -signal.SIGKILL
        server.witness = witness
        assert read_run(file) == []
        before = server.calls
        rest = run(db, Some(ten_minutes.folder, count=QUESTIONS), [tree], file)
        assert (rest.asked, len(rest.lines)) == (QUESTIONS, QUESTIONS)
        repeated = sum(n - 1 for n in sent(server).values())
        assert 40 <= before < server.calls and 0 < repeated <= LOST, repeated
    told = [x for x in whole.run.lines if x.strategy == tree.strategy]
    assert [(x.answer, x.status, x.evidence) for x in rest.lines] == [
        (x.answer, x.status, x.evidence) for x in told
    ]


def table(done: Run) -> list[Row]:
    return [replace(r, seconds=0.0) for r in rows_of(done.lines)]
