"""Made benchmarks: what the questions say is what the videos show."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from reeldb.cli import main
from reeldb.evaluation.benchmark import Folder, read_lines
from reeldb.evaluation.made.make import make, written
from reeldb.evaluation.made.questions import KINDS
from reeldb.evaluation.made.video import pictures
from reeldb.evaluation.timecode import read_stamp
from reeldb.models.registry import load
from reeldb.schema.errors import EvaluationError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made") / "bench"
    make(place, videos=2, minutes=3, questions=5, seed=4)
    return place


def facts(folder: Path, video: str) -> list[dict[str, Any]]:
    return [row for row, _ in read_lines(folder / "events.jsonl") if row["video"] == video]


def test_a_folder_reads_back_with_every_kind_of_question(folder: Path) -> None:
    bench = Folder(folder)
    asked = bench.questions()
    assert Counter((q.video, q.kind) for q in asked) == {
        (f"v00{v}.mp4", kind): 1 for v in range(2) for kind in KINDS
    }
    for q in asked:
        assert bench.video(q.video)
        assert q.answer in q.choices and len(set(q.choices)) == 4
        assert q.spans and all(0 <= a < b <= 180 for a, b in q.spans)


def test_every_picture_says_its_moment_and_the_video_is_as_long_as_asked(folder: Path) -> None:
    with av.open(str(folder / "videos" / "v001.mp4")) as container:
        stamps = [
            read_stamp(np.asarray(f.to_ndarray(format="rgb24"), np.uint8))
            for f in container.decode(video=0)
        ]
    assert stamps == [(1, i / 2) for i in range(360)]


def test_the_answers_follow_from_the_events_alone() -> None:
    """By the meaning of `asks`, over all facts; no choice but the answer does."""
    for seed in range(12):
        script, asked = written("v.mp4", 1200, 24, seed)
        assert len(asked) == 24
        for q in asked:
            asks = q.asks
            done = [f for f in script.facts() if f.kind == "action" and f.who == asks.get("who")
                    and f.does == asks["does"]]  # fmt: skip
            match asks["give"]:
                case "what":
                    right = [done[0].what] if len(done) == 1 else []
                case "things":
                    things = {f.what for f in done}
                    right = [
                        c for c in q.choices if set(c.replace(" and ", ", ").split(", ")) == things
                    ]
                case "order":
                    right = [", then ".join(f.what for f in done)]
                case "count":
                    right = [str(len([f for f in done if f.what == asks["what"]]))]
                case "number":
                    signs = [f.what.split() for f in script.facts() if f.kind == "sign"]
                    right = [n for word, n in signs if word == asks["sign"]]
                case _:
                    continue
            assert right == [q.answer]
            assert len({f.text for f in done}) == len(done)
            assert [list(s) for s in q.spans] == [[f.start_s, f.end_s] for f in done] or not done


def test_the_gist_is_what_is_shown_longest() -> None:
    tried = 0
    for seed in range(10):
        script, asked = written("v.mp4", 1800, 10, seed)
        for q in asked:
            if q.kind == "gist":
                shown: Counter[str] = Counter()
                for scene in script.scenes:
                    names = [c.called for c in scene.present]
                    for name in names if q.asks["of"] == "who" else [f"the {scene.where}"]:
                        shown[name] += round(scene.end_s - scene.start_s)
                assert shown.most_common(1)[0][0] == q.answer
                tried += 1
    assert tried >= 10


def test_scenes_tile_the_video_and_actions_stay_off_the_cuts() -> None:
    for seconds in (20, 61, 75, 600, 8400):
        script, _ = written("v.mp4", seconds, 4, 1)
        cuts = [s.start_s for s in script.scenes] + [script.scenes[-1].end_s]
        assert cuts == sorted(cuts) and (cuts[0], cuts[-1]) == (0, seconds)
        assert all(s.end_s - s.start_s >= 20 for s in script.scenes)
        for a, b in zip(script.scenes, script.scenes[1:], strict=False):
            assert a.end_s == b.start_s and a.where != b.where
        for fact in script.actions:
            assert any(s.start_s < fact.start_s < fact.end_s < s.end_s for s in script.scenes)


def test_the_same_seed_makes_the_same_and_another_one_other_videos(
    folder: Path, tmp_path: Path
) -> None:
    make(tmp_path / "again", videos=2, minutes=3, questions=5, seed=4)
    make(tmp_path / "other", videos=2, minutes=3, questions=5, seed=5)
    for name in ("questions.jsonl", "events.jsonl", "videos/v000.mp4", "README.md"):
        first, again, other = (
            (place / name).read_bytes()
            for place in (folder, tmp_path / "again", tmp_path / "other")
        )
        assert first == again != other


def test_what_is_written_in_a_picture_can_be_read() -> None:
    script, _ = written("v.mp4", 120, 2, 3)
    act = script.actions[0]
    shown = list(pictures(script))[round(act.start_s * 2) + 1]
    [look] = load("builtin:ocr", "ocr", {}).look([shown])  # type: ignore[attr-defined]
    read = {f.text.replace(" ", "") for f in look.found}
    assert f"{act.who}{act.does}{act.what}".replace(" ", "") in read


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"videos": 0}, "0 videos"),
        ({"minutes": 0.1}, "0.1 minutes"),
        ({"minutes": 1, "questions": 20}, "room for"),
        ({"questions": -1}, "-1 questions"),
    ],
)
def test_what_cannot_be_made_is_said(how: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=says):
        make(tmp_path / "new", **how)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["eval", "make", str(tmp_path)]) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_the_command_makes_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "b"
    argv = ["eval", "make", str(place), "--videos", "1", "--minutes", "1", "--questions", "2"]
    assert main(argv) == 0
    assert "1 videos, 2 questions" in capsys.readouterr().err
    assert len(Folder(place).questions()) == 2


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "not a JSON object"),
        (json.dumps({"id": "a"}), "'video' is missing"),
        (json.dumps({"id": "a", "video": "v", "question": "q", "answer": "c",
                     "choices": ["a", "b"]}), "none of its choices"),
        (json.dumps({"id": "a", "video": "v", "question": "q", "answer": "", "spans": [1]}),
         "spans are pairs"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_question_is_named(line: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(line)
    with pytest.raises(EvaluationError, match=says):
        Folder(tmp_path).questions()


def test_a_folder_without_questions_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="reel eval make"):
        Folder(tmp_path).questions()
