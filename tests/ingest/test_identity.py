"""One video, whatever its file is called, wherever it lies, however it is wrapped."""

from __future__ import annotations

import shutil
from pathlib import Path

import av
import pytest

from reeldb.index.archive import Archive
from reeldb.ingest.add import add
from reeldb.ingest.pass_ import Pass
from reeldb.ingest.report import Item
from reeldb.media.identity import scan_packets
from reeldb.schema.settings import Settings
from tests.clips import make_clip, remux
from tests.ingest.conftest import EMBEDDER


def added(archive: Archive, *paths: Path, **how: object) -> list[str]:
    report = add(archive, list(paths), embedder=EMBEDDER, **how)  # type: ignore[arg-type]
    return [item.outcome for item in report.items]


def videos(archive: Archive) -> list[dict[str, object]]:
    found: list[dict[str, object]] = archive.snapshot().videos.to_pylist()
    return found


def test_a_renamed_file_is_the_same_video(archive: Archive, tmp_path: Path, clip: Path) -> None:
    old, new = tmp_path / "old.mp4", tmp_path / "sub" / "new name.mp4"
    shutil.copy(clip, old)
    added(archive, old)
    new.parent.mkdir()
    old.rename(new)
    assert added(archive, tmp_path / "sub") == ["moved"]
    (video,) = videos(archive)
    assert (video["path"], video["name"], video["missing"]) == (str(new), "new name.mp4", False)
    assert video["aliases"] == [str(old), str(new)]
    versions = archive.store.versions()
    assert added(archive, tmp_path / "sub") == ["known"]
    assert archive.store.versions() == versions


def test_a_copy_is_an_alias(archive: Archive, tmp_path: Path, clip: Path) -> None:
    copy = tmp_path / "copy.mp4"
    added(archive, clip)
    shutil.copy(clip, copy)
    assert added(archive, copy) == ["known"]
    (video,) = videos(archive)
    assert video["aliases"] == [str(clip), str(copy)]
    assert video["path"] == str(copy)
    versions = archive.store.versions()
    assert added(archive, clip, copy) == ["known", "known"]
    assert archive.store.versions() == versions
    copy.unlink()
    assert added(archive, tmp_path, clip) == ["failed", "moved"]  # no video is left in the folder
    assert videos(archive)[0]["path"] == str(clip)


def test_a_file_that_is_gone_is_marked_and_found_again(
    archive: Archive, tmp_path: Path, clip: Path
) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    path = folder / "a.mp4"
    shutil.copy(clip, path)
    make_clip(folder / "b.mp4", [("red", 1.0)])
    added(archive, folder)
    path.unlink()
    assert added(archive, folder) == ["known"]
    assert {v["name"]: v["missing"] for v in videos(archive)} == {"a.mp4": True, "b.mp4": False}
    shutil.copy(clip, path)
    assert added(archive, folder) == ["known", "known"]
    assert not any(v["missing"] for v in videos(archive))


def test_other_bytes_at_a_known_path_are_another_video(
    archive: Archive, tmp_path: Path, clip: Path
) -> None:
    path = tmp_path / "clip.mp4"
    shutil.copy(clip, path)
    added(archive, path)
    make_clip(path, [("white", 1.0)])
    assert added(archive, path) == ["added"]
    by_length = {v["duration_s"]: v["missing"] for v in videos(archive)}
    assert by_length == {4.0: True, 1.0: False}
    versions = archive.store.versions()
    assert added(archive, path) == ["known"]
    assert archive.store.versions() == versions


def test_other_settings_are_refused_unless_replace(archive: Archive, clip: Path) -> None:
    added(archive, clip)
    before = videos(archive)[0]
    (item,) = add(archive, [clip], Settings(fps=2), embedder=EMBEDDER).items
    assert item.outcome == "failed"
    assert item.message == "is indexed with fps 1.0, not fps 2; add --replace to index it again"
    assert added(archive, clip, settings=Settings(fps=2), replace=True) == ["replaced"]
    (video,) = videos(archive)
    assert video["content_id"] == before["content_id"]
    assert video["settings"] == Settings(fps=2, threshold=27.0).row()
    assert len(archive.snapshot().relation("frames")) == 8
    assert len(archive.snapshot().relation("embeddings")) == 8
    assert added(archive, clip, settings=Settings(fps=2, threshold=27.0)) == ["known"]


@pytest.mark.parametrize("suffix", [".mkv", ".ts", ".mov"])
def test_a_remuxed_copy_is_copied_without_decoding(
    archive: Archive, tmp_path: Path, clip: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(archive, clip)
    other = remux(clip, tmp_path / f"other{suffix}")
    monkeypatch.setattr("reeldb.ingest.one.Pass", None)  # decoding would fail
    assert added(archive, other) == ["copied"]
    first, second = sorted(videos(archive), key=lambda v: str(v["added_at"]))
    assert second["content_id"] == first["content_id"]
    assert second["video_id"] != first["video_id"] and second["name"] == other.name
    assert second["duration_s"] == first["duration_s"]
    snapshot = archive.snapshot()
    for relation in ("scenes", "frames", "embeddings"):
        ids = snapshot.relation(relation)["video_id"].to_pylist()
        assert ids.count(first["video_id"]) == ids.count(second["video_id"]) > 0


def slower(src: Path, dst: Path, factor: int) -> Path:
    """The same packets, each shown `factor` times as late and as long."""
    with av.open(str(src)) as source, av.open(str(dst), "w") as out:
        stream = out.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.size and packet.pts is not None and packet.dts is not None:
                packet.pts, packet.dts = packet.pts * factor, packet.dts * factor
                packet.duration, packet.stream = (packet.duration or 0) * factor, stream
                out.mux_one(packet)
    return dst


def test_the_same_packets_at_other_times_are_other_content(
    archive: Archive, tmp_path: Path
) -> None:
    plain = make_clip(tmp_path / "1.mp4", [("red", 0.4), ("blue", 0.4)])
    paths = [plain, *(slower(plain, tmp_path / f"{n}.mp4", n) for n in (2, 3))]
    assert len({scan_packets(p).content_digest for p in paths}) == 1
    assert added(archive, *paths) == ["added"] * 3
    found = sorted(videos(archive), key=lambda v: str(v["name"]))
    assert [v["duration_s"] for v in found] == pytest.approx([0.8, 1.6, 2.4], abs=0.05)
    assert len({v["content_id"] for v in found}) == 3
    assert added(archive, remux(paths[1], tmp_path / "2.mkv")) == ["copied"]


def test_a_file_that_changes_meanwhile_is_refused(
    archive: Archive, tmp_path: Path, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "growing.mp4"
    shutil.copy(clip, path)
    whole = Pass.run

    def run(self: Pass) -> object:
        with path.open("ab") as f:
            f.write(b"more")
        return whole(self)

    monkeypatch.setattr(Pass, "run", run)
    (item,) = add(archive, [path], embedder=EMBEDDER).items
    assert isinstance(item, Item) and item.outcome == "failed"
    assert "changed while it was read" in item.message
    assert videos(archive) == []


def test_a_video_published_meanwhile_stays_and_learns_the_path(
    archive: Archive, tmp_path: Path, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy.mp4"
    shutil.copy(clip, copy)
    whole = Pass.run

    def run(self: Pass) -> object:
        monkeypatch.setattr(Pass, "run", whole)
        assert added(Archive.open(archive.path), clip) == ["added"]
        return whole(self)

    monkeypatch.setattr(Pass, "run", run)
    assert added(archive, copy) == ["known"]
    (video,) = videos(archive)
    assert video["aliases"] == [str(clip), str(copy)]
    assert len(archive.snapshot().relation("frames")) == 5
