"""What a page of figures was measured on: machine, versions, date."""

from __future__ import annotations

import datetime
import os
import platform
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("reeldb", "duckdb", "pylance", "pyarrow", "numpy", "av", "onnxruntime",
             "scenedetect-headless")  # fmt: skip


def machine() -> str:
    """Processor, cores and memory, without the machine's name."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}"


def versions() -> str:
    """Python and the libraries that do the work."""
    found = [f"{name} {version(name)}" for name in LIBRARIES]
    return ", ".join([f"Python {platform.python_version()}", *found])


def today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [x.partition(":")[2].strip() for x in lines if x.startswith("model name")]
    return names[0] if names else platform.machine()
