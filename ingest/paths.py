"""Which files a command means: files, folders and glob patterns to video files in order."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_EXTENSIONS = (
    "3g2 3gp asf avi divx dv f4v flv gif h264 h265 hevc ivf m1v m2t m2ts m2v m3u8 m4v mjpeg mjpg "
    "mkv mov mp4 mpe mpeg mpg mts mxf nut obu ogm ogv qt rm rmvb ts vob webm wmv y4m"
)
EXTENSIONS = frozenset(_EXTENSIONS.split())
"""What a folder is searched for, in lower case; a file that is named is tried whatever it is."""

ARCHIVE_MARK = "reel.toml"


@dataclass(slots=True)
class FoundFiles:
    """`files` are absolute, without repeats, symbolic links kept as they are.

    `skipped` counts other files met in folders; `errors` are (what was named, why nothing
    came of it).
    """

    files: list[Path] = field(default_factory=list)
    skipped: int = 0
    errors: list[tuple[str, str]] = field(default_factory=list)


def find_files(paths: Iterable[str | Path]) -> FoundFiles:
    """The video files that `paths` mean, in the order given, each folder in natural order.

    A folder is searched recursively by extension; hidden entries and archives are skipped and a
    folder reached twice, through links too, is searched once. A pattern is tried only where no file
    of that very name exists.
    """
    found = FoundFiles()
    for path in paths:
        _add(found, os.fspath(path))
    found.files = list(dict.fromkeys(found.files))
    return found


def natural(name: str) -> list[tuple[int, int, str]]:
    """A sort key: numbers in a name by value, letters without case.

    >>> sorted(["b10", "b9", "B1"], key=natural)
    ['B1', 'b9', 'b10']
    """
    parts = re.split(r"([0-9]+)", name)
    return [(0, int(p), p) if p[:1].isdigit() else (1, 0, p.casefold()) for p in parts]


def absolute(path: str | Path) -> Path:
    """The path from the root, `..` resolved by name and symbolic links kept."""
    return Path(os.path.abspath(path))  # noqa: PTH100 (Path.resolve would follow links)


def _add(found: FoundFiles, name: str) -> None:
    path = Path(name)
    if name and path.is_dir():
        _add_folder(found, name, path)
    elif name and os.path.lexists(path):
        found.files.append(absolute(path))
    elif glob.has_magic(name):
        _add_pattern(found, name)
    else:
        found.errors.append((name, "no such file or folder"))


def _add_folder(found: FoundFiles, name: str, folder: Path) -> None:
    files = list(_walk(found, absolute(folder), set()))
    if not files and not any(n.startswith(name) for n, _ in found.errors):
        found.errors.append((name, "no video file in this folder; name a file to try it anyway"))
    found.files += files


def _add_pattern(found: FoundFiles, pattern: str) -> None:
    """As a shell would, but files of other kinds are passed over unless the pattern names
    their extension."""
    matches = sorted(glob.glob(pattern, recursive=True), key=natural)  # noqa: PTH207
    if not matches:
        found.errors.append((pattern, "no file matches this pattern"))
    extension = Path(pattern).suffix
    named = bool(extension) and not glob.has_magic(extension)
    seen: set[tuple[int, int]] = set()
    for match in map(absolute, matches):
        if match.is_dir():
            if "**" not in pattern:
                found.files += _walk(found, match, seen)
        elif named or is_video_name(match):
            found.files.append(match)
        else:
            found.skipped += 1


def is_video_name(path: Path) -> bool:
    return path.suffix[1:].lower() in EXTENSIONS


def _walk(found: FoundFiles, folder: Path, seen: set[tuple[int, int]]) -> Iterator[Path]:
    try:
        stat = folder.stat()
        if (stat.st_dev, stat.st_ino) in seen:
            return
        seen.add((stat.st_dev, stat.st_ino))
        entries = sorted(os.scandir(folder), key=lambda e: natural(e.name))
    except OSError as error:
        found.errors.append((str(folder), f"cannot read this folder: {error.strerror}"))
        return
    folders = []
    for entry in entries:
        path = folder / entry.name
        if entry.name.startswith("."):
            found.skipped += 1
        elif entry.is_dir():
            if not (path / ARCHIVE_MARK).exists():  # an archive's own files are not counted
                folders.append(path)
        elif is_video_name(path):
            yield path
        else:
            found.skipped += 1
    for inner in folders:
        yield from _walk(found, inner, seen)
