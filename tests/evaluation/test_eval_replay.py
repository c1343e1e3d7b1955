"""A run again from its answers alone."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import reeldb.database
from reeldb.cli import main
from reeldb.database import Database
from reeldb.evaluation.replay import replay
from reeldb.evaluation.run import run
from reeldb.evaluation.setting import Setting
from reeldb.evaluation.table import rows_of
from reeldb.schema.errors import EvaluationError
from tests.evaluation.some import Some
from tests.made_bench import Bench
from tests.seeing import SeeingServer

Both = tuple[Database, SeeingServer]
UNIFORM, DPP = Setting("uniform(n => 8)"), Setting("dpp(n => 8, reflections => 0)")


def test_the_table_comes_again_without_models_archive_or_videos(
    truthful: Both, ten_minutes: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    db, server = truthful
    folder = tmp_path / "bench"
    shutil.copytree(ten_minutes.folder, folder)
    few = (folder / "questions.jsonl").read_text().splitlines(keepends=True)[:3]
    (folder / "questions.jsonl").write_text("".join(few))
    argv = ["eval", "run", str(folder), "--strategy", UNIFORM.strategy, "--strategy",
            DPP.strategy, "--format", "json"]  # fmt: skip
    assert main([*argv, "--archive", str(db.path)]) == 0
    rows = json.loads(capsys.readouterr().out)
    server.close()
    shutil.rmtree(db.path)
    shutil.rmtree(folder / "videos")

    def never(*args: object) -> None:
        raise AssertionError("a replay opened the archive")

    monkeypatch.setattr(reeldb.database, "open", never)
    for replayed in ([*argv, "--replay"], [*argv[:3], "--format", "json", "--replay"]):
        assert main(replayed) == 0
        said = capsys.readouterr()
        assert json.loads(said.out) == rows and "0 asked, 6 taken" in said.err
        assert "not in" not in said.err
    (folder / "questions.jsonl").unlink()
    assert main([*argv, "--replay"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == rows and "cannot be told" in said.err


def test_what_the_file_lacks_is_told(truthful: Both, ten_minutes: Bench, tmp_path: Path) -> None:
    db, _ = truthful
    file, bench = tmp_path / "a.jsonl", Some(ten_minutes.folder)
    done = run(db, bench, [UNIFORM], file)
    rows = file.read_text().splitlines(keepends=True)
    file.write_text("".join(rows[:3]))
    asked = bench.questions()
    again = replay(file, asked, [UNIFORM, DPP])
    assert again.lines == done.lines[:3]
    nothing, few = again.notes
    assert nothing.startswith(f"{DPP.name}: nothing of it is in ")
    assert few.startswith("uniform(n => 8): 2 of 5 questions are not in ")
    assert few.endswith(f"{asked[3].id}, {asked[4].id}")
    reworded = [replace(asked[0], question="What else?"), *asked[1:3]]
    other = replay(file, reworded, [])
    assert other.lines == done.lines[1:3] and asked[0].id in other.notes[0]


def test_other_models_are_other_settings(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, _ = truthful
    file, bench = tmp_path / "a.jsonl", Some(ten_minutes.folder, count=2)
    first = run(db, bench, [UNIFORM], file)
    db.set_model("vision", "none")
    second = run(db, bench, [UNIFORM], file)
    both = replay(file, bench.questions(), [UNIFORM])
    assert both.lines == (*first.lines, *second.lines)
    assert len(rows_of(both.lines)) == len(rows_of(first.lines)) + len(rows_of(second.lines))
    of_one = replay(file, bench.questions(), [replace(UNIFORM, models=(("vision", "none"),))])
    assert of_one.lines == second.lines
    newer = replace(first.lines[0], answer="another")
    with file.open("a") as out:
        out.write(newer.json() + "\n")  # the last line of a question counts
    assert replay(file, bench.questions(), [UNIFORM]).lines[0] == newer


def test_a_replay_of_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="no such file"):
        replay(tmp_path / "a.jsonl", None, [])
