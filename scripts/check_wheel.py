"""Fails unless a wheel holds the whole package and nothing else: `check_wheel.py FILE.whl`."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

LIMIT_MB = 70
ROOMS = ("index", "ingest", "media", "models", "query", "schema")


def faults(wheel: Path) -> list[str]:
    """What is wrong with the wheel, one line each."""
    names = set(zipfile.ZipFile(wheel).namelist())
    found = []
    megabytes = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {megabytes:.1f} MB, {len(names)} files")
    if megabytes > LIMIT_MB:
        found.append(f"{megabytes:.1f} MB is over {LIMIT_MB} MB")
    found += [f"a test is inside: {n}" for n in names if "tests/" in n or "/test_" in n]
    root = Path(__file__).resolve().parents[1]
    for source in [*root.glob("*/**/*.py"), root / "cli.py"]:
        room = source.relative_to(root).parts[0]
        if room in (*ROOMS, "cli.py") and f"reeldb/{source.relative_to(root)}" not in names:
            found.append(f"missing: {source.relative_to(root)}")
    for data in [*root.glob("models/data/*"), *root.glob("media/clips/*")]:
        if f"reeldb/{data.relative_to(root)}" not in names:
            found.append(f"missing: {data.relative_to(root)}")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(faults(Path(sys.argv[1]))) or None)
