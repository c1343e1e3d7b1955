"""The videos that the user has, found by the ids that annotations use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reeldb.ingest.paths import EXTENSIONS, find_files
from reeldb.schema.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class Videos:
    """Every video file of a folder and its subfolders, by name without extension."""

    files: Mapping[str, tuple[Path, ...]]

    @classmethod
    def of(cls, folder: Path) -> Videos:
        """What is there now. Raises EvaluationError where the folder is not there."""
        if not folder.is_dir():
            raise EvaluationError(f"{folder}: not a folder of videos")
        files: dict[str, list[Path]] = {}
        for file in find_files([folder]).files:
            files.setdefault(_bare(file.name), []).append(file)
        return cls({name: tuple(found) for name, found in files.items()})

    def find(self, name: str) -> Path | None:
        """The file of a video by its id, in any container; None where it is not there.

        An id with a folder (`1_plotQA/12.mp4`) prefers a file in a folder of that name. Of
        several files the first in natural order is taken.
        """
        wanted = PurePosixPath(name)
        found = self.files.get(_bare(wanted.name), ())
        parent = wanted.parent.name
        return next((f for f in found if f.parent.name == parent), found[0] if found else None)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Those of the names that have no file, each once, in order."""
        return [name for name in dict.fromkeys(names) if self.find(name) is None]


def _bare(name: str) -> str:
    """The name without a video's extension; ids hold dots of their own.

    >>> _bare("NUsG9BgSes0_210.0_360.0"), _bare("NUsG9BgSes0_210.0_360.0.MP4")
    ('NUsG9BgSes0_210.0_360.0', 'NUsG9BgSes0_210.0_360.0')
    """
    stem, dot, extension = name.rpartition(".")
    return stem if dot and extension.lower() in EXTENSIONS else name
