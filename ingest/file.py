"""A file as it was when it was first looked at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reeldb.media.container import open_media, shown_path
from reeldb.media.identity import file_digest
from reeldb.schema.errors import IngestError


@dataclass(frozen=True, slots=True)
class File:
    """`video_id` is the digest of the bytes; a path is not part of what a video is."""

    path: Path
    video_id: str
    bytes: int
    changed_ns: int

    @classmethod
    def read(cls, path: Path) -> File:
        """Reads the file once. Raises MediaError for what is no readable file, IngestError
        for a name that no archive can hold."""
        if not path.is_file():
            open_media(path).close()  # raises, and says why
        try:
            str(path).encode()
        except UnicodeEncodeError:
            raise IngestError(f"{shown_path(path)}: its name is not UTF-8; rename it") from None
        stat = path.stat()
        return cls(path, file_digest(path), stat.st_size, stat.st_mtime_ns)

    def check_unchanged(self) -> None:
        """Raises IngestError where the file was written to, or removed, meanwhile."""
        try:
            stat = self.path.stat()
            changed = (stat.st_size, stat.st_mtime_ns) != (self.bytes, self.changed_ns)
        except OSError:
            changed = True
        if changed:
            raise IngestError(
                f"{shown_path(self.path)}: it changed while it was read; add it again when it "
                "is complete"
            )
