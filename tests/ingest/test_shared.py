"""`add` on the real, hard and odd videos beside the checkout."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from reeldb.index.archive import Archive
from reeldb.ingest.add import add
from reeldb.ingest.report import Item

pytestmark = pytest.mark.shared
Row = dict[str, object]
Hard = tuple[dict[str, Item], dict[str, Row], dict[str, list[Row]]]
ONE_FRAME_S = 0.0401
FAILS = {
    "10_truncated_no_moov.mp4",
    "13_zero_bytes.mp4",
    "14_text.mp4",
    "16_audio_only.m4a",
    "17_cover_art.mp3",
    "58_random_bytes.mkv",
}


def index(folder: Path, root: Path) -> Hard:
    archive = Archive.open(root / "archive", create=True)
    files = sorted(p for p in folder.iterdir() if p.suffix not in (".csv", ".md", ".vtt"))
    report = add(archive, files, embedder="none")
    snapshot = archive.snapshot()
    scenes: dict[str, list[Row]] = {}
    for row in snapshot.relation("scenes").to_pylist():
        scenes.setdefault(row["video"], []).append(row)
    videos = {r["video"]: r for r in snapshot.relation("videos").to_pylist()}
    check_rows(archive)
    return {Path(i.path).name: i for i in report.items}, videos, scenes


def check_rows(archive: Archive) -> None:
    """Scenes tile, keys are frames inside their scene, frames lie inside the video."""
    snapshot = archive.snapshot()
    frames = {(r["video_id"], r["t_s"]): r for r in snapshot.relation("frames").to_pylist()}
    for video in snapshot.relation("videos").to_pylist():
        video_id = video["video_id"]
        scenes = [s for s in snapshot.relation("scenes").to_pylist() if s["video_id"] == video_id]
        assert scenes[0]["start_s"] == 0 and scenes[-1]["end_s"] == video["duration_s"]
        assert all(a["end_s"] == b["start_s"] for a, b in pairwise(scenes))
        assert [s["scene_no"] for s in scenes] == list(range(video["scene_count"]))
        for scene in scenes:
            assert scene["start_s"] <= scene["key_s"] < scene["end_s"]
            assert frames[video_id, scene["key_s"]]["scene_no"] == scene["scene_no"]
        grid = [t for (v, t), f in frames.items() if v == video_id and f["on_grid"]]
        assert sorted(grid) == [float(t) for t in range(len(grid))]
        assert len(grid) - 1 < video["duration_s"] <= len(grid)


@pytest.fixture(scope="module")
def hard(shared_videos: Path, tmp_path_factory: pytest.TempPathFactory) -> Hard:
    return index(shared_videos / "hard", tmp_path_factory.mktemp("hard"))


@pytest.fixture(scope="module")
def manifest(shared_videos: Path) -> list[dict[str, str]]:
    with (shared_videos / "hard" / "manifest.csv").open(newline="") as f:
        return list(csv.DictReader(f))


def ok(manifest: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    return (row for row in manifest if row["expected"].startswith("ok"))


def test_hard_files_fail_or_not_as_they_should(hard: Hard, manifest: list[dict[str, str]]) -> None:
    items, _, _ = hard
    assert {n for n, item in items.items() if item.outcome == "failed"} == FAILS
    assert {n for n, item in items.items() if item.outcome in ("added", "copied")} == {
        row["file"] for row in ok(manifest)
    }
    assert all("\n" not in items[n].message and len(items[n].message) > 20 for n in FAILS)


def test_hard_files_have_their_cuts_within_one_frame(
    hard: Hard, manifest: list[dict[str, str]]
) -> None:
    wrong = {}
    for row in ok(manifest):
        true = row["true_cuts_s_from_first_frame"]
        if true.startswith("gradual"):
            continue
        expected = [float(t) for t in true.split()]
        found = [s["start_s"] for s in hard[2][row["file"]]][1:]
        if len(found) != len(expected) or any(
            abs(float(str(f)) - e) > ONE_FRAME_S for f, e in zip(found, expected, strict=True)
        ):
            wrong[row["file"]] = (expected, found)
    assert wrong == {}


def test_gradual_changes_are_one_boundary_at_most(hard: Hard) -> None:
    fade = [float(str(s["start_s"])) for s in hard[2]["29_fade_through_black.mp4"]][1:]
    assert len(fade) == 1 and 2.9 <= fade[0] <= 3.1
    dissolve = [float(str(s["start_s"])) for s in hard[2]["30_crossfade_2s.mp4"]][1:]
    assert len(dissolve) <= 1 and all(2 <= t <= 4 for t in dissolve)


def test_hard_files_have_their_durations_sizes_and_pictures(
    hard: Hard, manifest: list[dict[str, str]]
) -> None:
    wrong = {}
    for row in ok(manifest):
        video = hard[1][row["file"]]
        size = f"{video['width']}x{video['height']}"
        close = abs(float(str(video["duration_s"])) - float(row["true_duration_s"])) <= 0.05
        count = int(row["n_frames_ffprobe_count"])
        if not close or size != row["display_size"] or video["frame_count"] != count:
            wrong[row["file"]] = (video["duration_s"], size, video["frame_count"], row)
    assert wrong == {}


def test_damage_is_told(hard: Hard, manifest: list[dict[str, str]]) -> None:
    damaged = {name for name, video in hard[1].items() if video["damaged"]}
    assert damaged == {row["file"] for row in ok(manifest) if "warning" in row["expected"]}
    assert hard[1]["37_corrupt_middle.mp4"]["lost_frames"] == 25
    assert all(hard[0][name].message for name in damaged)


@pytest.mark.slow
def test_real_videos_index_but_the_longest(shared_videos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    for file in (shared_videos / "real").iterdir():
        if file.name != "big_buck_bunny.mp4":
            (folder / file.name).symlink_to(file)
    items, videos, scenes = index(folder, tmp_path)
    assert {i.outcome for i in items.values()} == {"added"}
    assert len(scenes["vtest.avi"]) == len(scenes["bangkok_half_res.mp4"]) == 1
    assert len(scenes["tears_of_steel_clip.webm"]) in range(22, 31)
    assert not any(v["damaged"] for v in videos.values())


def test_odd_videos_give_sane_rows_or_a_clear_error(shared_videos: Path, tmp_path: Path) -> None:
    items, videos, _ = index(shared_videos / "odd", tmp_path)
    assert {i.outcome for i in items.values()} <= {"added", "copied", "failed"}
    assert all(i.message for i in items.values() if i.outcome == "failed")
    assert all(0 < float(str(v["duration_s"])) < 60 for v in videos.values())
