"""Where the weights of an address are, and what tells them apart from others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reeldb.schema.digests import digest
from reeldb.schema.errors import ModelError

SAMPLES = 64  # stretches of a weights file that are read for its digest
STRETCH = 1 << 16
SUFFIXES = (".json", ".jinja", ".txt", ".model", ".safetensors", ".bin", ".pt", ".pth")


@dataclass(frozen=True, slots=True)
class Source:
    """A folder, or a name on a model hub, with the revision that the user set, if any."""

    address: str
    name: str
    folder: Path | None
    revision: str = ""

    @property
    def identity(self) -> str:
        """What goes into ledger keys. A folder is known by its own name and what is
        in it, wherever it lies."""
        scheme = self.address.partition(":")[0]
        if self.folder is None:
            return f"{scheme}:{self.name}" + (f"@{self.revision}" if self.revision else "")
        return f"{scheme}:{self.folder.name}@{self.revision or folder_digest(self.folder)}"


def source_of(address: str, revision: str = "") -> Source:
    """The source that `scheme:NAME_OR_FOLDER` names.

    Raises ModelError where it is a path and no folder is there.
    """
    name = address.partition(":")[2].strip()
    if not name:
        raise ModelError(f"{address!r} names no model; write {address}NAME or {address}FOLDER")
    folder = Path(name).expanduser()
    if folder.is_dir():
        return Source(address, name, folder.resolve(), revision)
    if name[0] in "/.~" or name.count("/") > 1 or "\\" in name:
        raise ModelError(f"{address!r}: there is no folder {folder}")
    return Source(address, name, None, revision)


def folder_digest(folder: Path) -> str:
    """A digest of a model's folder: its small files whole, of its weights the size, the header
    and SAMPLES stretches, so that 16 GB take a moment; training changes all of them."""
    parts: list[bytes | str] = []
    for path in sorted(folder.iterdir()):
        if path.suffix in SUFFIXES and path.is_file():
            parts += [path.name, file_digest(path)]
    return digest(*parts)[:12]


def file_digest(path: Path) -> str:
    """The same of one file."""
    size = path.stat().st_size
    with path.open("rb") as f:
        if size <= SAMPLES * STRETCH:
            return digest(f.read())
        pieces: list[bytes | str] = [str(size)]
        for i in range(SAMPLES):
            f.seek(i * (size - STRETCH) // (SAMPLES - 1))
            pieces.append(f.read(STRETCH))
        return digest(*pieces)
