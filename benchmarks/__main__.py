"""All benchmarks, one after the other: `make bench`.

Each prints its ratios and the goal beside them. On the clip that ships with reeldb ingest is
short, so start-up weighs more there than on a film: name a longer file for a fairer figure
(`python -m benchmarks.ingest FILE`).
"""

from __future__ import annotations

import platform
import subprocess
import sys

PARTS = (
    ["benchmarks.start"],
    ["benchmarks.ingest"],
    ["benchmarks.search", "200000", "512"],
    ["benchmarks.shots"],
    ["benchmarks.fill"],
)


def main() -> int:
    """Runs every part in a process of its own; gives 1 if one of them failed."""
    print(f"{platform.platform()}, Python {platform.python_version()}", flush=True)
    failed = []
    for part in PARTS:
        print(f"\n# {' '.join(part)}", flush=True)
        if subprocess.run([sys.executable, "-m", *part], check=False).returncode:
            failed.append(part[0])
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall ran")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
