"""The command line as people type it: one small archive, every command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reeldb.cli import _parser, main
from reeldb.media.probe import probe
from tests.clips import make_clip

Reel = tuple[int, str, str]


class Shell:
    """Runs `reel` in this process, on one archive."""

    def __init__(self, archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.archive, self._capsys = archive, capsys

    def __call__(self, *args: str) -> Reel:
        self._capsys.readouterr()
        code = main([args[0], "--archive", str(self.archive), *args[1:]])
        out, err = self._capsys.readouterr()
        return code, out, err


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cli")
    make_clip(place / "one.mp4", [("red", 2.0), ("green", 2.0), ("blue", 2.0)])
    make_clip(place / "it's.mp4", [("white", 1.5), ("black", 1.5)])
    (place / "broken.mp4").write_bytes(b"not a video at all")
    (place / "notes.txt").write_text("nothing to see")
    main(["add", str(place), "--archive", str(place / "archive")])
    return place


@pytest.fixture
def reel(folder: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(folder / "archive", capsys)


def test_a_bad_file_is_named_and_never_stops_the_others(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = Shell(tmp_path / "new", capsys)("add", str(folder))
    assert code == 1
    assert "broken.mp4" in err
    assert "2 added" in err and "1 failed" in err
    assert "1 other file" in err


def test_adding_twice_changes_nothing(reel: Shell, folder: Path) -> None:
    before = reel("sql", "SELECT * FROM videos ORDER BY video")
    code, _, err = reel("add", str(folder / "one.mp4"), str(folder / "it's.mp4"))
    assert code == 0
    assert "2 known" in err
    assert reel("sql", "SELECT * FROM videos ORDER BY video") == before


def test_ls_lists_names_durations_and_scenes(reel: Shell) -> None:
    code, out, _ = reel("ls", "--format", "json")
    assert code == 0
    assert [(r["video"], r["duration_s"], r["scenes"]) for r in json.loads(out)] == [
        ("it's.mp4", 3.0, 2),
        ("one.mp4", 6.0, 3),
    ]


def test_a_pipe_gets_ndjson_and_csv_has_a_header(reel: Shell) -> None:
    statement = 'SELECT scene_no, start_s FROM "one.mp4".scenes'
    _, piped, _ = reel("sql", statement)
    assert [json.loads(line)["start_s"] for line in piped.splitlines()] == [0, 2, 4]
    _, out, _ = reel("sql", statement, "--format", "csv")
    assert out == "scene_no,start_s\n0,0.0\n1,2.0\n2,4.0\n"


def test_the_status_of_a_json_result_is_one_line_on_stderr(reel: Shell) -> None:
    _, out, err = reel("sql", "SELECT 1 AS n", "--format", "json")
    assert json.loads(out) == [{"n": 1}]
    assert json.loads(err)["status"] == "complete"


def test_parameters_are_values_not_text_of_the_statement(reel: Shell) -> None:
    _, out, _ = reel(
        "sql", "SELECT count(*) AS n FROM videos WHERE video = $name",
        "--param", "name=it's.mp4' OR 1=1 --", "--format", "csv",
    )  # fmt: skip
    assert out == "n\n0\n"
    _, out, _ = reel(
        "sql", "SELECT count(*) AS n FROM videos WHERE video = $name", "--param",
        "name=it's.mp4", "--format", "csv",
    )  # fmt: skip
    assert out == "n\n1\n"


def test_a_picture_is_a_parameter_read_from_a_file(reel: Shell, folder: Path) -> None:
    reel("show", "one.mp4", "--out", str(folder / "sheet.png"))
    code, out, _ = reel(
        "sql", "SELECT count(*) AS n FROM frames WHERE similarity(image, $p) > -2",
        "--param", f"p=@{folder / 'sheet.png'}", "--format", "csv",
    )  # fmt: skip
    assert code == 0
    assert int(out.split()[1]) == 9


def test_a_budget_that_ends_makes_a_partial_result_and_strict_says_so(reel: Shell) -> None:
    statement = "SELECT video, t_s, caption FROM frames BUDGET 2 CAPTIONS"
    code, out, err = reel("sql", statement, "--strict")
    assert code == 1
    assert "partial" in err
    assert len(out.splitlines()) == 2


def test_settings_may_stand_before_the_one_statement(reel: Shell) -> None:
    statement = "SELECT t_s, caption FROM frames"
    code, out, err = reel("sql", f"SET partial = 'sound'; SET captions = 'cached'; {statement}")
    assert code == 0
    assert "cached" in err
    captions = [json.loads(line)["caption"] for line in out.splitlines()]
    assert len(captions) == 9 and captions.count(None) > 0
    code, _, err = reel("sql", "SELECT 1; SELECT 2")
    assert code == 1
    assert "one statement" in err


def test_explain_shows_a_tree_and_calls_nothing(reel: Shell) -> None:
    code, out, _ = reel("explain", "SELECT caption FROM scenes WHERE start_s > 1")
    assert code == 0
    assert "caption" in out and "compute" in out


def test_show_writes_a_png(reel: Shell, tmp_path: Path) -> None:
    code, out, _ = reel("show", "it's.mp4", "--out", str(tmp_path / "s.png"))
    assert code == 0
    assert Path(out.strip()).read_bytes().startswith(b"\x89PNG")


def test_ask_answers_with_evidence_inside_the_video(reel: Shell) -> None:
    code, out, _ = reel(
        "ask", "is it dark?", "--video", "it's.mp4", "--choice", "yes", "--choice", "no",
        "--format", "json",
    )  # fmt: skip
    answer = json.loads(out)
    assert code == 0
    assert answer["choice"]["letter"] in "AB"
    assert answer["evidence"]
    for e in answer["evidence"]:
        assert e["video"] == "it's.mp4"
        assert 0 <= e["start_s"] < e["end_s"] <= 3


def test_evidence_is_cut_out_and_laid_out_and_the_answer_replayed(
    reel: Shell, tmp_path: Path
) -> None:
    code, out, err = reel(
        "ask", "green or blue?", "--video", "one.mp4", "--strategy", "topk(k => 3)",
        "--clips", str(tmp_path / "clips"), "--sheet", str(tmp_path / "it.png"),
        "--format", "table",
    )  # fmt: skip
    assert code == 0
    places = re.findall(r"^  (one\.mp4) @ (\S+)-(\d\d:\d\d:\d\d\S*)", out, re.M)
    clips = sorted((tmp_path / "clips").iterdir())
    assert len(clips) == len(places) > 0 and "re-encoded" in err
    for clip in clips:
        assert 0 < (probe(clip).header_duration_s or 0) <= 2.1
    assert (tmp_path / "it.png").read_bytes().startswith(b"\x89PNG")
    answer_id = re.findall(r"id (\w+)\)", out)[0]
    again = reel("replay", answer_id, "--format", "table")
    assert again[0] == 0
    assert again[1].splitlines()[: len(places) + 1] == out.splitlines()[: len(places) + 1]
    assert reel("replay", "00")[0] == 1


def test_a_removed_video_is_gone_and_its_file_is_not(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(tmp_path / "a", capsys)
    shell("add", str(folder / "one.mp4"))
    assert shell("rm", "one.mp4")[0] == 0
    assert shell("ls", "--format", "csv")[1].splitlines()[1:] == []
    assert (folder / "one.mp4").exists()


def test_status_verify_compact_and_export_work(reel: Shell, tmp_path: Path) -> None:
    assert reel("status")[0] == 0
    assert reel("compact")[0] == 0
    code, _, err = reel("verify")
    assert (code, err.strip()) == (0, "no fault found")
    assert reel("export", "--duckdb", str(tmp_path / "x.duckdb"))[0] == 0


def test_models_shows_every_role_and_how_to_better_it(reel: Shell) -> None:
    code, out, _ = reel("models", "--format", "json")
    roles = {r["role"]: r for r in json.loads(out)}
    assert code == 0
    assert roles["embedder"]["address"] == "builtin:labels"
    assert roles["chat"]["address"] == "none"
    assert all(r["better"] for r in roles.values())


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["sql", "SELEC 1"], "SELEC"),
        (["sql", "SELECT x FROM scenes"], "x"),
        (["sql", "SELECT 1 FROM sceness"], "scenes"),
        (["sql", 'SELECT 1 FROM "on.mp4".scenes'], "one.mp4"),
        (["ask", "what?", "--video", "on.mp4"], "one.mp4"),
        (["ask", "what?", "--strategy", "topq"], "topk"),
        (["ask", "what?", "--choice", "alone"], "choices"),
        (["show", "nothing.mp4"], "nothing.mp4"),
        (["rm", "nothing.mp4"], "nothing.mp4"),
        (["add", "/no/such/file.mp4"], "/no/such/file.mp4"),
        (["add", "x.mp4", "--detector", "contnet"], "content"),
        (["models", "set", "captionr", "builtin:tags"], "captioner"),
        (["sql", "SELECT 1", "--param", "novalue"], "novalue"),
    ],
)
def test_an_error_is_one_line_that_names_the_offender(
    reel: Shell, args: list[str], says: str
) -> None:
    code, _, err = reel(*args)
    assert code == 1
    assert says in err
    assert "Traceback" not in err


def test_asking_an_archive_that_is_not_there_is_an_error_not_a_new_archive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = Shell(tmp_path / "typo", capsys)("sql", "SELECT 1 FROM videos")
    assert code == 1
    assert "typo" in err
    assert not (tmp_path / "typo").exists()


def test_misuse_exits_2() -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["fly"])
    assert exit_.value.code == 2


def test_every_command_has_help_and_stands_in_the_readme() -> None:
    readme = (Path(__file__).resolve().parents[1] / "README.md").read_text()
    usage = _parser().format_help()
    commands = re.findall(r"^    (\w+) {2,}", usage, re.M)
    assert len(commands) >= 13
    for command in commands:
        assert f"reel {command}" in readme, command


def test_a_closed_pipe_is_no_error(reel: Shell) -> None:
    reel_ = f"{sys.executable} -m reeldb sql 'SELECT * FROM frames' --archive {reel.archive}"
    out = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {reel_} | head -n 1"], capture_output=True, text=True
    )
    assert out.returncode == 0
    assert "Traceback" not in out.stderr
