from __future__ import annotations

import io
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

import reeldb
from reeldb.shell import ReelCompleter, is_whole, shell
from tests.archives import make_archive, synthetic_video


def complete(text: str) -> list[str]:
    found = ReelCompleter(["kitchen.mp4", "it's.mp4"]).get_completions(
        Document(text), CompleteEvent()
    )
    return [c.text for c in found]


def test_words_relations_and_columns_are_completed() -> None:
    assert "scenes" in complete("SELECT * FROM sce")
    assert "start_s" in complete("SELECT sta")
    assert "similarity(" in complete("SELECT simi")


def test_names_of_videos_are_completed_inside_quotes() -> None:
    assert complete("SELECT * FROM scenes WHERE video = 'kit") == ["kitchen.mp4'"]
    assert complete('SELECT * FROM "kit') == ['kitchen.mp4"']
    assert complete("WHERE video = 'it") == ["it''s.mp4'"]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT ';", False),
        ("SELECT ';';", True),
        ("SELECT 1\n", True),
        ("exit", True),
        ("", True),
    ],
)
def test_a_statement_ends_with_a_semicolon_outside_quotes(text: str, whole: bool) -> None:
    assert is_whole(text) is whole


def test_a_piped_script_runs_and_an_error_does_not_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_archive(tmp_path / "a", [synthetic_video("one.mp4")])
    script = "SELECT count(*) AS n FROM scenes; SELEC; SELECT video FROM videos;"
    monkeypatch.setattr("sys.stdin", io.StringIO(script))
    shell(reeldb.open(tmp_path / "a"))
    out = capsys.readouterr().out
    assert out.index("n") < out.index("error:") < out.index("one.mp4")


def test_a_person_at_a_terminal_gets_rows_and_leaves_with_exit(tmp_path: Path) -> None:
    make_archive(tmp_path / "a", [synthetic_video("one.mp4")])
    ours, theirs = pty.openpty()
    env = os.environ | {
        "TERM": "xterm",
        "PROMPT_TOOLKIT_NO_CPR": "1",
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    command = [sys.executable, "-m", "reeldb", "shell", "--archive", str(tmp_path / "a")]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    try:
        seen = read_until(ours, "reel>")
        os.write(ours, b"SELECT 40 + 2 AS answer;\r")
        seen += read_until(ours, "1 row")
        os.write(ours, b"exit\r")
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert "42" in seen
    assert "1 video." in seen
    assert "SELECT 40 + 2" in (tmp_path / "state" / "reeldb" / "history").read_text()


def read_until(fd: int, text: str, seconds: float = 60) -> str:
    seen, until = "", time.monotonic() + seconds
    while text not in seen and time.monotonic() < until:
        if select.select([fd], [], [], 0.2)[0]:
            seen += os.read(fd, 65536).decode(errors="replace")
    assert text in seen, seen
    return seen
