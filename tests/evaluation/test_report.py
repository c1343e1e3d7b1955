"""The page of a run: what it shows is what the lines say, and it needs nothing else."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reeldb.cli import main
from reeldb.database import Database
from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.line import Line
from reeldb.evaluation.made.make import seed_of
from reeldb.evaluation.report.page import About, page
from reeldb.evaluation.report.plot import RIGHT, WIDTH, ticks_of
from reeldb.evaluation.run import Run
from reeldb.evaluation.table import pairs, rows_of
from tests.evaluation.pages import SVG, Page
from tests.made_bench import Bench
from tests.seeing import SeeingServer

Both = tuple[Database, SeeingServer]
HOSTILE = (
    """</td></table><script>alert(1)</script><img src=x onerror='alert("2")'>&amp;<!--\x00\u202e"""
)
WHEN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
ABOUT = About("bench", "9.9.9", WHEN, "7")


def line(number: int, right: bool | None, **more: Any) -> Line:
    made = Line(f"k{number}", f"q{number}", f"v{number % 4}", "needle", "topk", "", "complete",
                "a", right, 0.5, (), "chat", 2, 1, 5, 200, 1.5, "", (), 0.001, 100.0,
                (("vision", "openai:a"),))  # fmt: skip
    return replace(made, **more)


def lines() -> list[Line]:
    """Two settings of twelve questions, of two kinds, three durations and four statuses."""
    out = []
    for i in range(12):
        many = {"kind": ("needle", "gist")[i % 2], "duration_s": (100.0, 300.0, 1800.5)[i % 3]}
        out.append(line(i, i % 4 > 0, **many))
        status = ("complete", "partial", "unparsed", "failed")[i % 4]
        out.append(line(i, i % 3 == 0 if status != "failed" else None, strategy="dpp",
                        budget="9 calls", status=status, captions_made=7, calls=40 + i, usd=None,
                        seconds=12.25, **many))  # fmt: skip
    return out


def read(run: Run, about: About = ABOUT) -> Page:
    out = Page(page(run, about))
    assert (out.open, out.wrong) == ([], [])
    return out


def test_the_numbers_are_those_of_the_rows() -> None:
    rows = [r for r in rows_of(lines()) if r.kind == "all"]
    shown = read(Run(tuple(lines()), (), 0))
    for name, of in (
        ("questions", "questions"), ("accuracy", "accuracy"), ("recall", "recall"),
        ("unparsed", "unparsed"), ("failed", "failed"), ("insufficient", "insufficient"),
        ("partial", "partial"), ("captions made", "captions_made"),
        ("captions reused", "captions_reused"), ("calls", "calls"), ("tokens", "tokens"),
        ("USD", "usd"), ("seconds", "seconds"),
    ):  # fmt: skip
        assert shown.column("Settings", name) == [getattr(r, of) for r in rows], name
    assert shown.cells("Settings", "USD") == ["0.0010", "unknown"]
    assert shown.cells("Settings", "accuracy") == [f"{100 * (r.accuracy or 0):.1f} %" for r in rows]
    assert shown.cells("Settings", "95 % interval") == [
        f"{100 * (r.low or 0):.1f}–{100 * (r.high or 0):.1f} %" for r in rows
    ]
    assert "models" not in [text for text, _ in shown.tables["Settings"][0]]


def test_plots_put_each_setting_where_its_numbers_are() -> None:
    rows = [r for r in rows_of(lines()) if r.kind == "all"]
    shown = read(Run(tuple(lines()), (), 0))
    assert len(shown.plots) == 3
    for plot, name in enumerate(("captions_made", "calls", "seconds")):
        points = shown.points(plot)
        assert [(p["data-x"], p["data-y"], p["data-low"], p["data-high"]) for p in points] == [
            tuple(repr(v) for v in (getattr(r, name), r.accuracy, r.low, r.high)) for r in rows
        ]
        svg = shown.plots[plot]
        texts = [
            t
            for t in svg.iter(f"{SVG}text")
            if t.get("class") == "mid" and "transform" not in t.attrib
        ]
        ticks = {float((t.text or "").replace(",", "")): float(t.get("x") or 0) for t in texts}
        (zero, at_zero), *_, (last, at_last) = ticks.items()
        assert at_zero < at_last <= WIDTH - RIGHT
        assert zero == 0 and last >= max(getattr(r, name) for r in rows)
        for group, row in zip(svg.iter(f"{SVG}g"), rows, strict=True):
            circle = group.find(f"{SVG}circle")
            assert circle is not None and row.accuracy is not None and row.low is not None
            x = at_zero + (at_last - at_zero) * getattr(row, name) / last
            assert float(circle.get("cx") or 0) == pytest.approx(x, abs=0.2)
            stem = group.find(f"{SVG}line")
            assert stem is not None
            assert (
                float(stem.get("y1") or 0)
                <= float(circle.get("cy") or 0)
                <= float(stem.get("y2") or 0)
            )
            number = group.find(f"{SVG}text")
            assert number is not None and number.text == group.get("data-number")


def test_settings_of_the_same_cost_have_numbers_that_can_be_told_apart() -> None:
    same = [line(i, i % 2 > 0, strategy=s) for s in ("a", "b", "c", "d") for i in range(4)]
    svg = read(Run(tuple(same), (), 0)).plots[0]
    spots = [(float(t.get("x") or 0), float(t.get("y") or 0))
             for g in svg.iter(f"{SVG}g") for t in g.findall(f"{SVG}text")]  # fmt: skip
    assert len(spots) == 4
    for i, (x, y) in enumerate(spots):
        assert all(abs(x - a) >= 10 or abs(y - b) >= 10 for a, b in spots[:i])


def test_groups_statuses_and_pairs_add_up() -> None:
    run = Run(tuple(lines()), ("gone.mp4 is not there",), 0, ("a note",))
    shown = read(run)
    by_kind = {(r.strategy, r.kind): r for r in rows_of(run.lines)}
    for i, strategy in enumerate(("topk", "dpp"), 1):
        found = shown.column("By kind of question", f"accuracy {i}")
        assert found == [by_kind[strategy, k].accuracy for k in ("needle", "gist")]
    long = "By duration of the video"
    assert shown.cells(long, "video") == [
        "short (under 5 min)", "medium (5 to 30 min)", "long (over 30 min)",
    ]  # fmt: skip
    assert shown.column(long, "questions 1") == [4, 4, 4]
    short = [x.right for x in run.lines if x.strategy == "topk" and x.duration_s == 100.0]
    assert shown.column(long, "accuracy 1")[0] == sum(map(bool, short)) / 4
    sums = [
        sum(v or 0 for v in shown.column("Statuses", n)) for n in ("right", "wrong", "not judged")
    ]
    assert sums == [sum(x.right is w for x in run.lines) for w in (True, False, None)]
    told = dict(zip(shown.cells("Statuses", "status"), shown.tables["Statuses"][1:], strict=True))
    assert [c[0] for c in told["failed"][3:]] == ["0", "0", "3"]
    [pair] = pairs(run.lines)
    tests = "Differences between settings"
    assert shown.column(tests, "p") == [pair.test.p]
    assert shown.column(tests, "right in the first only") == [pair.test.only_first]
    assert shown.texts["Missing videos"].strip() == "gone.mp4 is not there"
    assert "a note" in shown.texts["Notes"]
    assert shown.tables["Answers"][0][0][0] == "question" and len(shown.tables["Answers"]) == 25


def test_what_questions_and_answers_say_stays_text() -> None:
    bad = [line(i, True, question=HOSTILE, video=HOSTILE, kind=HOSTILE, strategy=HOSTILE,
                budget=HOSTILE, status=HOSTILE, answer=HOSTILE, notes=(HOSTILE,),
                models=(("vision", HOSTILE + str(i)),)) for i in range(2)]  # fmt: skip
    asked = Question(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    plain = read(Run(tuple(line(i, True, models=(("vision", str(i)),)) for i in range(2)), (), 0))
    about = replace(ABOUT, name=HOSTILE, seed=HOSTILE, questions=(asked,))
    shown = read(Run(tuple(bad), (HOSTILE,), 0, (HOSTILE,)), about)
    assert set(shown.tags) == set(plain.tags)
    assert not {"script", "img", "link", "iframe", "object"} & set(shown.tags)
    assert {n for n, _ in shown.attributes} == {n for n, _ in plain.attributes}
    said = HOSTILE.replace("\x00", "\\x00").replace("\u202e", "\\u202e")
    for name in ("asked", "answer", "known answer", "video", "status"):
        assert set(shown.cells("Answers", name)) == {said}, name
    assert set(shown.cells("Settings", "strategy")) == {said}
    titles = [t.text or "" for t in shown.plots[0].iter(f"{SVG}title")]
    assert len(titles) == 2 and all(said in t for t in titles)


def test_nothing_is_fetched_and_nothing_runs() -> None:
    text = page(Run(tuple(lines()), (), 0), ABOUT)
    shown = Page(text)
    assert not {n for n, _ in shown.attributes} & {"src", "href", "srcset", "style", "data"}
    assert not [n for n, _ in shown.attributes if n.startswith("on")]
    links = set(re.findall(r"https?:[^\s\"'<)]+", text))
    assert links == {"http://www.w3.org/2000/svg"}  # a name, not a place
    assert "@import" not in text and "url(" not in text and "@font-face" not in text
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in shown.attributes
    assert "prefers-color-scheme: dark" in text
    light, dark = text.split("prefers-color-scheme: dark")
    names = re.compile(r"(--[a-z0-9]+):")
    assert set(names.findall(light)) == set(names.findall(dark.split("} }")[0]))
    used = set(re.findall(r"var\((--[a-z0-9]+)\)", text))
    assert used <= set(names.findall(light))


def test_the_heading_says_what_was_run() -> None:
    said = read(Run(tuple(lines()), (), 3)).texts[""]
    for text in ("bench: evaluation", "2026-01-02 03:04 UTC", "9.9.9", "benchmark 7; bootstrap 0",
                 "dpp / 9 calls", "vision = openai:a", "3 asked now, 21 taken"):  # fmt: skip
        assert text in said


def test_old_lines_nothing_judged_and_no_lines_are_pages_too() -> None:
    old = [line(i, None, recall=None, usd=None, duration_s=None, models=()) for i in range(3)]
    shown = read(Run(tuple(old), (), 0))
    assert shown.plots == [] and "No answer could be judged" in shown.texts["Accuracy and cost"]
    assert shown.cells("By duration of the video", "video") == ["not known"]
    assert shown.column("Settings", "accuracy") == [None]
    assert "not named in the file" in shown.texts[""]
    assert "No question was asked" in read(Run((), (), 0)).texts[""]


def test_ticks_are_round_and_reach_the_most() -> None:
    for most in (0.0, 0.003, 0.7, 1.0, 7.3, 10.0, 64.0, 99.9, 1234.5, 3e6):
        ticks = ticks_of(most)
        assert ticks[0] == 0 and ticks[-1] >= most and 2 <= len(ticks) <= 6
        assert most == 0 or ticks[-1] <= 2 * most


def test_the_command_writes_the_page_and_a_replay_the_same(
    truthful: Both, ten_minutes: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db, server = truthful
    folder, file = tmp_path / "bench", tmp_path / "page.html"
    shutil.copytree(ten_minutes.folder, folder)
    few = (folder / "questions.jsonl").read_text().splitlines(keepends=True)[:3]
    (folder / "questions.jsonl").write_text("".join(few))
    argv = ["eval", "run", str(folder), "--archive", str(db.path), "--strategy", "uniform(n => 8)",
            "--strategy", "topk(k => 4)", "--format", "json"]  # fmt: skip
    assert main([*argv, "--report", str(tmp_path / "no" / "page.html")]) != 0
    assert server.calls == 0 and "folder that is there" in capsys.readouterr().err
    assert main([*argv, "--report", str(file)]) == 0
    said = capsys.readouterr()
    rows = [r for r in json.loads(said.out) if r["kind"] == "all"]
    shown = Page(file.read_text("utf-8"))
    assert shown.column("Settings", "accuracy") == [r["accuracy"] for r in rows]
    assert shown.column("Settings", "tokens") == [r["tokens"] for r in rows]
    assert shown.cells("Answers", "asked")[0] == json.loads(few[0])["question"]
    assert "medium (5 to 30 min)" in shown.cells("By duration of the video", "video")
    assert f"benchmark {seed_of(folder)}; bootstrap 0" in shown.texts[""] and seed_of(folder) == "0"
    server.close()
    shutil.rmtree(db.path)
    again = tmp_path / "again.html"
    assert main([*argv, "--replay", "--report", str(again)]) == 0
    replayed = Page(again.read_text("utf-8"))
    assert replayed.tables == shown.tables
    assert [replayed.points(i) for i in range(3)] == [shown.points(i) for i in range(3)]
