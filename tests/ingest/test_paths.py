from __future__ import annotations

from pathlib import Path

import pytest

from reeldb.ingest.paths import find_files


def touch(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


def names(root: Path, *given: str | Path) -> list[str]:
    return [f.relative_to(root).as_posix() for f in find_files(given).files]


def test_a_folder_is_searched_by_extension_in_natural_order(tmp_path: Path) -> None:
    touch(tmp_path, "b10.mp4", "b9.MP4", "notes.txt", "sub/a.mkv", ".hidden.mp4", ".git/x.mp4")
    assert names(tmp_path, tmp_path) == ["b9.MP4", "b10.mp4", "sub/a.mkv"]
    assert find_files([tmp_path]).skipped == 3


def test_a_named_file_is_tried_whatever_its_extension(tmp_path: Path) -> None:
    touch(tmp_path, "odd.xyz", ".hidden")
    assert names(tmp_path, tmp_path / "odd.xyz", tmp_path / ".hidden") == ["odd.xyz", ".hidden"]


def test_a_file_meant_twice_comes_once(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4", "b.mp4")
    again = [tmp_path / "b.mp4", tmp_path, tmp_path / "x" / ".." / "a.mp4"]
    assert names(tmp_path, *again) == ["b.mp4", "a.mp4"]


def test_what_is_not_there_is_an_error_and_the_rest_goes_on(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4")
    (tmp_path / "empty").mkdir()
    given: list[str | Path] = [tmp_path / n for n in ("no.mp4", "a.mp4", "empty", "z*.mp4")]
    given.append("")
    found = find_files(given)
    assert [f.name for f in found.files] == ["a.mp4"]
    assert [n for n, _ in found.errors] == [str(given[0]), str(given[2]), str(given[3]), ""]


def test_a_pattern_is_spread_unless_a_file_has_that_name(tmp_path: Path) -> None:
    touch(tmp_path, "a1.mp4", "a2.mp4", "a.txt", "[ab]1.mp4", "s/deep.mp4")
    assert names(tmp_path, tmp_path / "[ab]1.mp4") == ["[ab]1.mp4"]
    assert names(tmp_path, tmp_path / "a?.mp4") == ["a1.mp4", "a2.mp4"]
    assert names(tmp_path, tmp_path / "a*") == ["a1.mp4", "a2.mp4"]
    assert names(tmp_path, tmp_path / "*.txt") == ["a.txt"]
    assert "s/deep.mp4" in names(tmp_path, tmp_path / "**" / "*.mp4")


def test_links_in_a_circle_end_and_links_to_files_stay_as_named(tmp_path: Path) -> None:
    touch(tmp_path, "real/a.mp4")
    (tmp_path / "real" / "loop").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "link.mp4").symlink_to(tmp_path / "real" / "a.mp4")
    assert names(tmp_path, tmp_path) == ["link.mp4", "real/a.mp4"]


@pytest.mark.parametrize(
    "name", ["-33 it's.mp4", "日本 ü%$(id).mp4", "line\nbreak.mp4", "end .mp4"]
)
def test_odd_names_are_literal(tmp_path: Path, name: str) -> None:
    touch(tmp_path, name)
    assert names(tmp_path, tmp_path) == [name]
    assert names(tmp_path, tmp_path / name) == [name]
