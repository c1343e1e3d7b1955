"""`reel.toml`: the small file that makes a folder an archive.

It holds the format version, the migrations that were applied and the address of the model
for each role; never an endpoint, a key or a path (an archive may come from a stranger).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reeldb.schema.errors import ArchiveError
from reeldb.schema.migrations import FORMAT
from reeldb.schema.models import ROLES

NAME = "reel.toml"


@dataclass(frozen=True, slots=True)
class ReelToml:
    """What `reel.toml` says; a value, changed by `with_model` and friends."""

    format: int = FORMAT
    migrations: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)

    def with_model(self, role: str, address: str) -> ReelToml:
        return replace(self, models={**self.models, role: address})

    def with_step(self, format: int, name: str) -> ReelToml:
        return replace(self, format=format, migrations=(*self.migrations, name))


def read(archive: Path) -> ReelToml:
    """The file's content. Raises ArchiveError where it is broken, FileNotFoundError if absent."""
    path = archive / NAME
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as e:
        raise _broken(path, str(e)) from e
    return _parsed(path, data)


def _parsed(path: Path, data: dict[str, Any]) -> ReelToml:
    version, steps, models = data.get("format"), data.get("migrations", []), data.get("models", {})
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _broken(path, f"format is {version!r}, not a whole number above 0")
    if not isinstance(steps, list) or not all(isinstance(s, str) for s in steps):
        raise _broken(path, "migrations is not a list of names")
    if not isinstance(models, dict) or not all(isinstance(a, str) for a in models.values()):
        raise _broken(path, "[models] is not a table of role = address")
    unknown = sorted(set(models) - set(ROLES))
    if unknown and version <= FORMAT:
        raise _broken(path, f"[models] has no role {unknown[0]!r}; roles: {', '.join(ROLES)}")
    return ReelToml(version, tuple(steps), models)


def _broken(path: Path, why: str) -> ArchiveError:
    return ArchiveError(
        f"{path}: {why}; a file with the line 'format = {FORMAT}' and a [models] table "
        'of role = "address" is enough'
    )


def write(archive: Path, content: ReelToml) -> None:
    """Replace the file in one step: a reader, or a crash, sees the old one or the new one.

    Raises ArchiveError where the folder is read-only or full.
    """
    path, draft = archive / NAME, archive / f".{NAME}.{os.getpid()}"
    try:
        with draft.open("w", encoding="utf-8") as f:
            f.write(dumps(content))
            f.flush()
            os.fsync(f.fileno())
        draft.replace(path)
    except OSError as e:
        draft.unlink(missing_ok=True)
        raise ArchiveError(f"{path}: cannot be written ({e.strerror}); nothing was changed") from e


def dumps(content: ReelToml) -> str:
    """The file's text.

    >>> print(dumps(ReelToml(1, (), {"embedder": "builtin:labels"})))
    format = 1
    migrations = []
    <BLANKLINE>
    [models]
    embedder = "builtin:labels"
    <BLANKLINE>
    """
    lines = [
        f"format = {content.format}",
        f"migrations = [{', '.join(_quoted(m) for m in content.migrations)}]",
        "",
        "[models]",
        *(f"{role} = {_quoted(content.models[role])}" for role in sorted(content.models)),
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A TOML basic string: quotes, backslashes and control characters escaped."""
    out = []
    for c in text:
        if c in '"\\':
            out.append("\\" + c)
        elif ord(c) < 32 or ord(c) == 127:
            out.append(f"\\u{ord(c):04X}")
        else:
            out.append(c)
    return '"' + "".join(out) + '"'
