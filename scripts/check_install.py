"""Fails if a base install is too large or holds what it must not: `check_install.py VENV`."""

from __future__ import annotations

import sys
from pathlib import Path

LIMIT_MB = 1350
BANNED = ("torch", "open_clip", "transformers", "tests", "index", "ingest", "query", "schema",
          "media", "models", "cli.py")  # fmt: skip


def faults(venv: Path) -> list[str]:
    """What is wrong with the install, one line each."""
    packages = next(venv.glob("lib/python*/site-packages"))
    size = sum(f.lstat().st_size for f in venv.rglob("*") if f.is_file() and not f.is_symlink())
    print(f"base install: {size / 1e6:.0f} MB")
    found = [f"{b} is installed" for b in BANNED if (packages / b).exists()]
    owners = [p.name for p in packages.glob("opencv*.dist-info")]
    if len(owners) != 1:
        found.append(f"cv2 has {len(owners)} owners: {owners}")
    if size / 1e6 > LIMIT_MB:
        found.append(f"{size / 1e6:.0f} MB is over {LIMIT_MB} MB")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(faults(Path(sys.argv[1]))) or None)
