"""Strategies over a benchmark: counted, resumable, the same to the digit."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from reeldb.cli import main
from reeldb.database import Database
from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.line import Line, read_run, recall_of
from reeldb.evaluation.run import run
from reeldb.evaluation.setting import Setting
from reeldb.evaluation.table import comparisons, rows_of
from reeldb.schema.errors import BindError, EvaluationError
from tests.evaluation.some import Some, without_time
from tests.faults import Fault, completion, status
from tests.made_bench import Bench, asked
from tests.seeing import SeeingServer

Both = tuple[Database, SeeingServer]
UNIFORM, DPP = Setting("uniform(n => 8)"), Setting("dpp(n => 8, reflections => 0)")


def test_a_table_counts_every_question_by_kind(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, server = truthful
    done = run(db, Some(ten_minutes.folder), [UNIFORM, DPP], tmp_path / "a.jsonl")
    rows = {(r.strategy, r.kind): r for r in rows_of(done.lines)}
    assert {k for _, k in rows} == {"all", "needle", "scattered", "counting", "order", "gist"}
    every = rows[DPP.strategy, "all"]
    right = [x.right for x in done.lines if x.strategy == DPP.strategy]
    assert every.questions == 5 and every.accuracy == sum(map(bool, right)) / 5 >= 0.6
    assert rows[UNIFORM.strategy, "scattered"].accuracy == 0
    assert every.recall and every.recall > 0.5
    assert sum(x.calls for x in done.lines) == server.calls > 0
    assert every.tokens > 0
    [told] = comparisons(done.lines)
    assert "only the second" in told


def test_the_same_run_again_asks_nothing_and_says_the_same_to_the_digit(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, server = truthful
    bench, file = Some(ten_minutes.folder), tmp_path / "a.jsonl"
    first = run(db, bench, [DPP], file)
    calls, text = server.calls, file.read_text()
    again = run(db, bench, [DPP], file)
    assert (again.asked, server.calls, file.read_text()) == (0, calls, text)
    assert rows_of(again.lines) == rows_of(first.lines)


def test_a_run_in_another_archive_comes_to_the_same(
    truthful: Both, ten_minutes: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, _ = truthful
    bench = Some(ten_minutes.folder)
    first = run(db, bench, [UNIFORM, DPP], tmp_path / "a.jsonl")
    place = tmp_path / "other"
    place.mkdir()
    with asked(ten_minutes, place, monkeypatch) as (other, _):
        second = run(other, bench, [UNIFORM, DPP], place / "b.jsonl")
    assert without_time(first) == without_time(second)


def test_a_run_stopped_at_half_goes_on_and_repeats_no_call(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, server = truthful
    bench, file = Some(ten_minutes.folder), tmp_path / "a.jsonl"

    def stop(what: str, done: int, of: int) -> None:
        if what == "questions" and done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(db, bench, [DPP], file, told=stop)
    with file.open("a") as out:
        out.write('{"key": "cut o')  # what a kill leaves
    assert len(read_run(file)) == 3
    rest = run(db, bench, [DPP], file)
    assert (rest.asked, len(rest.lines)) == (2, 5)
    sent = Counter(json.dumps(s.body, sort_keys=True) for s in server.requests)
    assert set(sent.values()) == {1}
    whole = run(db, bench, [DPP], tmp_path / "b.jsonl")
    assert [x.answer for x in whole.lines] == [x.answer for x in rest.lines]
    assert all(x.calls == 0 for x in whole.lines)


def test_other_options_a_budget_or_other_models_are_other_lines(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, _ = truthful
    bench, file = Some(ten_minutes.folder), tmp_path / "a.jsonl"
    assert run(db, bench, [UNIFORM], file).asked == 5
    assert run(db, bench, [replace(UNIFORM, budget="3 calls")], file).asked == 5
    assert run(db, bench, [Setting("uniform(n => 9)")], file).asked == 5
    db.set_model("vision", "fake:vision")
    assert run(db, bench, [UNIFORM], file).asked == 5


def test_lost_calls_are_failed_answers_and_count_as_wrong(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, server = truthful
    server.always = status(500, "Internal")
    done = run(db, Some(ten_minutes.folder), [UNIFORM], tmp_path / "a.jsonl")
    every = rows_of(done.lines)[0]
    assert (every.accuracy, every.failed, every.questions) == (0, 5, 5)
    assert (every.low, every.high) == (0, 0)


def test_a_missing_video_is_listed_and_not_fatal(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, _ = truthful
    extra = Question("x", "gone.mp4", "Who?", "a", ("a", "b"))
    done = run(db, Some(ten_minutes.folder, (extra,)), [UNIFORM], tmp_path / "a.jsonl")
    assert (done.missing, len(done.lines)) == (("gone.mp4 is not there",), 5)


def test_what_cannot_be_compared_is_asked_and_not_judged(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, _ = truthful
    free = Question("x", "v000.mp4", "Who is there?", "Ada")
    done = run(db, Some(ten_minutes.folder, (free,)), [UNIFORM], tmp_path / "a.jsonl")
    assert (done.lines[-1].right, done.lines[-1].recall) == (None, None)
    assert rows_of(done.lines[-1:])[0].accuracy is None


def test_a_wrong_setting_is_refused_before_anything_is_asked(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, server = truthful
    bench, file = Some(ten_minutes.folder), tmp_path / "a.jsonl"
    with pytest.raises(BindError, match="no strategy 'dppp'"):
        run(db, bench, [UNIFORM, Setting("dppp")], file)
    with pytest.raises(EvaluationError, match="--strategy"):
        run(db, bench, [], file)
    assert server.calls == 0 and not file.exists()


def test_dollars_are_those_of_the_tokens_and_unknown_without_a_price(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, _ = truthful
    config, bench = tmp_path / "config.toml", Some(ten_minutes.folder)
    [eyes] = {db.models.address("embedder")}
    free = f'["{eyes}"]\nusd_per_million_tokens = 0.0\n'  # plugged in, so nobody knows its price
    plain = config.read_text()
    unknown = run(db, bench, [UNIFORM], tmp_path / "a.jsonl")
    assert {x.usd for x in unknown.lines} == {None} and rows_of(unknown.lines)[0].usd is None
    config.write_text(plain + "usd_per_million_tokens = 2.0\n" + free)
    paid = run(db, bench, [DPP], tmp_path / "b.jsonl")
    assert all(x.usd == pytest.approx(x.tokens * 2e-6, abs=1e-6) for x in paid.lines)
    dollars = rows_of(paid.lines)[0].usd
    assert dollars is not None and dollars > 0
    again = run(db, bench, [DPP], tmp_path / "c.jsonl")
    assert {x.usd for x in again.lines} == {0.0}
    kept = db.archive.store.read("answers", ["id", "usd"]).to_pylist()
    assert {round(k["usd"], 6) for k in kept if k["id"] in {x.answer_id for x in paid.lines}} == {
        x.usd for x in paid.lines
    }
    db.set_model("captioner", "builtin:tags")
    for role in ("chat", "vision"):
        db.set_model(role, "none")
    here = run(db, bench, [DPP], tmp_path / "d.jsonl")
    assert {(x.usd, x.status) for x in here.lines} == {(0.0, "complete")}


@pytest.mark.parametrize(
    ("statement", "usd"),
    [
        ("SELECT t_s FROM frames LIMIT 1", 0.0),
        ("SELECT similarity(image, 'a lamp') FROM frames LIMIT 1", None),
        ("SELECT t_s FROM select_frames('a lamp', k => 2)", None),
        ("SELECT caption FROM scenes LIMIT 1", None),
    ],
)
def test_a_statement_whose_models_have_no_price_costs_nobody_knows_what(
    truthful: Both, statement: str, usd: float | None
) -> None:
    db, _ = truthful
    assert db.sql(statement).stats["usd"] == usd


def test_a_server_that_counts_no_tokens_leaves_dollars_unknown(
    truthful: Both, ten_minutes: Bench, tmp_path: Path
) -> None:
    db, server = truthful
    config = tmp_path / "config.toml"
    config.write_text(config.read_text() + "usd_per_million_tokens = 2.0\n")
    said = completion("a lamp")
    server.always = Fault(body=json.dumps({**json.loads(said), "usage": {}}).encode())
    done = run(db, Some(ten_minutes.folder), [UNIFORM], tmp_path / "a.jsonl")
    assert [x.tokens for x in done.lines] == [0] * 5
    assert {x.usd for x in done.lines} == {None}


def test_lines_of_before_still_read(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    row = asdict(line(0, True))
    later = ("usd", "duration_s", "models")
    file.write_text(json.dumps({k: v for k, v in row.items() if k not in later}) + "\n")
    assert read_run(file) == [line(0, True)]
    assert rows_of(read_run(file))[0].usd is None


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": 1}\n')
    with pytest.raises(EvaluationError, match="line 1"):
        read_run(file)
    assert file.read_text() == '{"id": 1}\n'


def test_the_command_prints_the_table_and_keeps_the_answers(
    truthful: Both, ten_minutes: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db, _ = truthful
    folder = tmp_path / "bench"
    shutil.copytree(ten_minutes.folder, folder)
    few = (folder / "questions.jsonl").read_text().splitlines(keepends=True)[:2]
    (folder / "questions.jsonl").write_text("".join(few))
    argv = ["eval", "run", str(folder), "--archive", str(db.path), "--strategy", UNIFORM.strategy,
            "--strategy", DPP.strategy, "--format", "json"]  # fmt: skip
    assert main(argv) == 0
    out = capsys.readouterr()
    rows = json.loads(out.out)
    assert [r["strategy"] for r in rows if r["kind"] == "all"] == [UNIFORM.strategy, DPP.strategy]
    assert "4 asked" in out.err and len(read_run(folder / "answers.jsonl")) == 4
    assert main(argv) == 0
    again = capsys.readouterr()
    assert json.loads(again.out) == rows and "0 asked" in again.err


def test_a_video_that_cannot_be_indexed_is_named_and_not_fatal(
    ten_minutes: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos" / "4010069381.mp4").write_bytes(b"no video")
    (tmp_path / "val.csv").write_text(
        "video_id,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4\n"
        "4010069381,369,640,480,who?,b,6,CH,a,b,c,d,e\n"
        "1,369,640,480,who?,b,6,CH,a,b,c,d,e\n"
    )
    argv = ["eval", "run", str(tmp_path / "val.csv"), "--loader", "nextqa", "--videos",
            str(tmp_path / "videos"), "--archive", str(tmp_path / "archive"),
            "--strategy", "topk", "--format", "json"]  # fmt: skip
    assert main(argv) == 0
    said = capsys.readouterr()
    assert "4010069381 cannot be indexed" in said.err and "1 is not there" in said.err
    assert json.loads(said.out) == []


def line(number: int, right: bool | None, **more: Any) -> Line:
    made = Line(f"k{number}", f"q{number}", f"v{number}", "needle", "s", "", "complete", "",
                right, None, (), "chat", 0, 0, 1, 10, 1.0, "", ())  # fmt: skip
    return replace(made, **more)


def test_an_interval_holds_the_accuracy_and_narrows_with_the_questions() -> None:
    few = rows_of([line(i, i % 3 > 0) for i in range(24)])[0]
    many = rows_of([line(i, i % 3 > 0) for i in range(1200)])[0]
    assert few.low is not None and few.high is not None and few.accuracy is not None
    assert many.low is not None and many.high is not None
    assert few.low < few.accuracy < few.high
    assert many.high - many.low < few.high - few.low


def test_many_questions_about_few_things_are_no_narrow_interval() -> None:
    lone = rows_of([line(i, i % 12 < 8) for i in range(480)])[0]
    alike = rows_of([line(i, i % 12 < 8, video=f"v{i % 12}") for i in range(480)])[0]
    assert lone.low is not None and alike.low is not None
    assert alike.low < lone.low


def test_statuses_are_counted_and_unparsed_is_wrong() -> None:
    rows = rows_of(
        [line(0, True), line(1, False, status="unparsed"), line(2, True, budget="1 calls")]
    )
    assert [(r.budget, r.questions, r.accuracy, r.unparsed) for r in rows] == [
        ("", 2, 0.5, 1), ("1 calls", 1, 1.0, 0),
    ]  # fmt: skip


def test_recall_is_of_spans_that_evidence_touches() -> None:
    assert recall_of([(0, 5), (8, 9)], [(5, 8)]) == 0
    assert recall_of([(0, 5), (8, 9)], [(4, 6), (0, 1)]) == 0.5
    assert recall_of([], [(0, 1)]) is None
