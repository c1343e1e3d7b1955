"""The short real clip that ships with the package."""

from __future__ import annotations

from pathlib import Path

from reeldb.schema.errors import MediaError

CLIP = Path(__file__).parent / "clips" / "big_buck_bunny_excerpt.mp4"


def demo_clip() -> Path:
    """An excerpt of Big Buck Bunny, 58.5 s (CC-BY 3.0, see ATTRIBUTION.txt beside it).

    Raises MediaError where the package was installed without it.
    """
    if not CLIP.is_file():
        raise MediaError(f"{CLIP}: the demo clip is missing; install reeldb again from its wheel")
    return CLIP
