"""The rows and the page that benchmarks come to, and that each part gives rows."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks import __main__ as bench
from benchmarks.page import page, table
from benchmarks.rows import Row, ratio
from benchmarks.timing import Run, Timed


def timed(*walls_s: float) -> Timed:
    return Timed("a", tuple(Run(w, w) for w in walls_s))


def test_a_ratio_is_of_medians_and_its_range_of_pairs() -> None:
    row = ratio("a", "b", timed(1, 2, 9), timed(1, 1, 3), at_most=1.5)
    assert (row.value, row.low, row.high) == (2, 1, 3)
    assert row.figure == "2x (1-3)" and row.goal == "<= 1.5x" and row.met is False


@pytest.mark.parametrize(
    "value, at_least, at_most, met, goal",
    [
        (1.0, None, None, None, ""),
        (1.0, 0.5, 2.0, True, "0.5-2 ms"),
        (3.0, 0.5, 2.0, False, "0.5-2 ms"),
        (0.4, 0.5, None, False, ">= 0.5 ms"),
        (250.0, None, 250.0, True, "<= 250 ms"),
    ],
)
def test_a_goal_has_one_bound_or_two(
    value: float, at_least: float | None, at_most: float | None, met: bool | None, goal: str
) -> None:
    row = Row("a", "b", value, "ms", at_least=at_least, at_most=at_most)
    assert row.met is met and row.goal == goal


def test_a_page_has_a_table_a_part_and_tells_what_failed() -> None:
    rows = [Row("a | b", "c", 2.0, at_most=1.0)]
    text = page({"one": rows}, {"two": "no ffmpeg"}, machine="m", versions="v", date="d")
    assert "| a \\| b | c | 2x | <= 1x | **no** |  |" in text
    assert text.index("## one") < text.index("## two\n\nfailed: no ffmpeg")
    assert {line.replace("\\|", "").count("|") for line in table(rows).splitlines()} == {7}


def test_rows_survive_the_way_from_their_process() -> None:
    row = ratio("a", "b", timed(1, 2), timed(1, 1), note="n")
    assert Row(**json.loads(json.dumps(asdict(row)))) == row


def test_a_part_runs_and_its_page_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "page.md"
    assert bench.main(["--quick", "--only", "start", "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert text.count("\n| `reel ") == 2 and text in capsys.readouterr().out
