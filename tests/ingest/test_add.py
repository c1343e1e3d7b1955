"""What `add` writes, and what it leaves alone."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from reeldb.index.archive import Archive
from reeldb.ingest.add import add
from reeldb.ingest.report import Event, Report
from reeldb.media.jpeg import decode_jpeg
from reeldb.schema.errors import IngestError
from reeldb.schema.settings import Settings
from tests.clips import make_clip, near, solid, truncate, write_clip
from tests.ingest.conftest import EMBEDDER

Row = dict[str, object]


def rows(archive: Archive, relation: str) -> list[Row]:
    found: list[Row] = archive.snapshot().relation(relation).to_pylist()
    return found


def outcomes(report: Report) -> list[str]:
    return [item.outcome for item in report.items]


def test_a_video_becomes_scenes_frames_and_vectors(archive: Archive, clip: Path) -> None:
    report = add(archive, [clip], embedder=EMBEDDER)
    assert outcomes(report) == ["added"]
    (video,) = rows(archive, "videos")
    assert (video["video"], video["path"]) == ("clip.mp4", str(clip))
    assert (video["duration_s"], video["frame_count"], video["fps"]) == (4.0, 100, 25.0)
    assert (video["width"], video["height"], video["has_audio"]) == (160, 120, True)
    assert video["settings"] == Settings(threshold=27.0).row()
    scenes = [(s["start_s"], s["end_s"], s["key_s"]) for s in rows(archive, "scenes")]
    assert scenes == [(0.0, 2.0, 1.0), (2.0, 3.2, 3.0), (3.2, 4.0, 3.6)]
    frames = [(f["t_s"], f["frame_no"], f["scene_no"]) for f in rows(archive, "frames")]
    assert frames == [(0.0, 0, 0), (1.0, 1, 0), (2.0, 2, 1), (3.0, 3, 1), (3.6, None, 2)]
    assert [e["t_s"] for e in rows(archive, "embeddings")] == [0.0, 1.0, 2.0, 3.0, 3.6]


def test_thumbnails_show_their_moment_upright(archive: Archive, clip: Path) -> None:
    add(archive, [clip], embedder="none")
    thumbnails = archive.snapshot().heavy("frames", "thumbnail").to_pylist()
    colours = ["red", "red", "blue", "blue", "white"]
    assert all(near(decode_jpeg(t), c) for t, c in zip(thumbnails, colours, strict=True))
    assert {decode_jpeg(t).shape for t in thumbnails} == {(120, 160, 3)}


def test_vectors_are_those_of_their_picture(archive: Archive, clip: Path) -> None:
    add(archive, [clip], embedder=EMBEDDER)
    vectors = np.array(archive.snapshot().heavy("embeddings", "vector").to_pylist())
    same = vectors @ vectors.T
    assert same[0, 1] > 0.99 and same[2, 3] > 0.99
    assert max(same[0, 2], same[0, 4], same[2, 4]) < 0.9


def test_adding_twice_changes_nothing(archive: Archive, clip: Path) -> None:
    add(archive, [clip], embedder=EMBEDDER)
    before = archive.store.versions()
    assert outcomes(add(archive, [clip])) == ["known"]
    assert archive.store.versions() == before


def test_none_stores_no_vectors(archive: Archive, clip: Path) -> None:
    add(archive, [clip], embedder="none")
    assert rows(archive, "embeddings") == []
    assert rows(archive, "videos")[0]["embedder"] == "none"


def test_another_embedder_is_refused_and_names_reindex(archive: Archive, clip: Path) -> None:
    add(archive, [clip], embedder=EMBEDDER)
    for other in ("none", "fake:embedder?dim=32"):
        with pytest.raises(IngestError, match="reel reindex --embedder"):
            add(archive, [clip], embedder=other)
    assert outcomes(add(archive, [clip], embedder=EMBEDDER)) == ["known"]


def test_an_embedder_that_never_indexed_anything_fixes_nothing(
    archive: Archive, tmp_path: Path, clip: Path
) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"no video")
    assert outcomes(add(archive, [tmp_path / "bad.mp4"], embedder="none")) == ["failed"]
    assert outcomes(add(archive, [clip], embedder=EMBEDDER)) == ["added"]


def test_one_bad_file_is_reported_and_the_batch_goes_on(
    archive: Archive, tmp_path: Path, clip: Path
) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    truncate(clip, folder / "b no moov.mp4", 0.4)
    (folder / "c.mp4").write_bytes(b"")
    make_clip(folder / "a.mp4", [("red", 1.0)])
    make_clip(folder / "d.mkv", [("blue", 1.0)])
    report = add(archive, [folder, tmp_path / "absent.mp4"], embedder="none")
    assert outcomes(report) == ["failed", "added", "failed", "failed", "added"]
    assert all("\n" not in item.message and item.message for item in report.failed)
    assert [v["video"] for v in rows(archive, "videos")] == ["a.mp4", "d.mkv"]
    assert report.summary() == "5 files: 2 added, 3 failed"


def test_progress_ends_at_its_total_and_names_every_file(archive: Archive, clip: Path) -> None:
    events: list[Event] = []
    add(archive, [clip, clip.parent / "absent.mp4"], embedder="none", progress=events.append)
    assert [e.item.outcome for e in events if e.item is not None] == ["failed", "added"]
    assert all(e.total is not None and e.done <= e.total for e in events)
    assert events[-1].done == events[-1].total == clip.stat().st_size


@pytest.mark.parametrize("fps", [0.3, 3.0, 29.97])
def test_the_grid_follows_fps(archive: Archive, clip: Path, fps: float) -> None:
    add(archive, [clip], Settings(fps=fps), embedder="none")
    grid = [f["t_s"] for f in rows(archive, "frames") if f["on_grid"]]
    expected = [round(k * 1000 / fps) / 1000 for k in range(200)]
    assert grid == [t for t in expected if t < 4.0]


@pytest.mark.parametrize("detector", ["content", "adaptive", "hash", "histogram"])
def test_scenes_tile_the_video_with_every_detector(
    archive: Archive, tmp_path: Path, detector: str
) -> None:
    scenes = [("red", 0.2), ("white", 1.0), ("black", 0.6), ("yellow", 0.04)]
    path = make_clip(tmp_path / "short.mp4", scenes, text=["one", "two", "three", "four"])
    add(archive, [path], Settings(detector=detector), embedder="none")
    found = rows(archive, "scenes")
    assert found[0]["start_s"] == 0.0
    assert found[-1]["end_s"] == rows(archive, "videos")[0]["duration_s"]
    assert all(a["end_s"] == b["start_s"] for a, b in pairwise(found))
    times = {f["t_s"] for f in rows(archive, "frames")}
    assert all(s["key_s"] in times and s["start_s"] <= s["key_s"] < s["end_s"] for s in found)  # type: ignore[operator]


def test_a_picture_on_screen_for_long_is_a_row_at_every_grid_time(
    archive: Archive, tmp_path: Path
) -> None:
    times = [0.0, 0.5, 1.0, 9.5, 10.0]
    colours = ["red", "red", "blue", "lime", "lime"]
    pictures = [(t, solid(c)) for t, c in zip(times, colours, strict=True)]
    path = write_clip(tmp_path / "slides.mp4", pictures, fps=2)
    add(archive, [path], embedder=EMBEDDER)
    assert [f["t_s"] for f in rows(archive, "frames") if f["on_grid"]] == list(range(11))
    thumbnails = archive.snapshot().heavy("frames", "thumbnail").to_pylist()
    assert [near(decode_jpeg(t), "blue") for t in thumbnails][:11] == [False, *[True] * 9, False]
    assert len(rows(archive, "embeddings")) == len(thumbnails)


def test_keyframes_give_every_grid_time_the_keyframe_before_it(
    archive: Archive, tmp_path: Path
) -> None:
    scenes = [("red", 4.0), ("blue", 4.0), ("white", 2.0)]
    path = make_clip(tmp_path / "k.mp4", scenes, gop=100, options={"x264-params": "scenecut=0"})
    add(archive, [path], Settings(scan="keyframes"), embedder=EMBEDDER)
    video = rows(archive, "videos")[0]
    assert (video["duration_s"], video["frame_count"]) == (10.0, 250)
    assert [s["start_s"] for s in rows(archive, "scenes")] == [0.0, 4.0, 8.0]
    assert [f["t_s"] for f in rows(archive, "frames")] == list(range(10))
    assert len(rows(archive, "embeddings")) == 10


def test_pictures_that_cannot_be_embedded_are_told_and_the_rest_kept(
    archive: Archive, clip: Path
) -> None:
    report = add(archive, [clip], embedder=EMBEDDER + "&nan=blue")
    assert report.items[0].message == "2 pictures could not be embedded"
    assert [e["t_s"] for e in rows(archive, "embeddings")] == [0.0, 1.0, 3.6]
    assert not rows(archive, "videos")[0]["damaged"]


def test_short_scenes_have_their_own_picture_even_when_it_must_be_fetched(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reeldb.ingest.pass_._RECENT_BYTES", 1)
    scenes = [("red", 1.1), ("blue", 0.6), ("white", 0.25), ("red", 2.0)]
    path = make_clip(tmp_path / "short.mp4", scenes)
    add(archive, [path], Settings(min_scene=0.1), embedder=EMBEDDER)
    frames = rows(archive, "frames")
    thumbnails = archive.snapshot().heavy("frames", "thumbnail").to_pylist()
    off_grid = [
        (f["t_s"], next(c for c in ("red", "blue", "white") if near(decode_jpeg(t), c)))
        for f, t in zip(frames, thumbnails, strict=True)
        if not f["on_grid"]
    ]
    assert off_grid == [(1.42, "blue"), (1.84, "white")]
    assert len(rows(archive, "embeddings")) == len(frames)
