"""How a video is sampled and cut: the settings of `add`, kept with every video."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from reeldb.schema.errors import IngestError, near

DETECTORS = ("content", "adaptive", "hash", "histogram")
SCANS = ("full", "keyframes")


@dataclass(frozen=True, slots=True)
class Settings:
    """Raises IngestError where a value makes no sense.

    `fps` pictures a second on the grid; `threshold` in the detector's own unit (None: its
    default); `min_scene` seconds between two cuts.
    """

    fps: float = 1.0
    detector: str = "content"
    threshold: float | None = None
    min_scene: float = 0.5
    scan: str = "full"

    def __post_init__(self) -> None:
        if not 0 < self.fps <= 1000:
            raise IngestError(f"--fps {self.fps}: give a number above 0, at most 1000")
        if not 0 <= self.min_scene < float("inf"):
            raise IngestError(f"--min-scene {self.min_scene}: give seconds, 0 or more")
        if self.threshold is not None and not 0 < self.threshold < float("inf"):
            raise IngestError(f"--threshold {self.threshold}: give a number above 0")
        if self.detector not in DETECTORS:
            raise IngestError(f"--detector {self.detector}: {near(self.detector, DETECTORS)}")
        if self.scan not in SCANS:
            raise IngestError(f"--scan {self.scan}: {near(self.scan, SCANS)}")

    def row(self) -> dict[str, object]:
        return asdict(self)


def grid_ms(fps: float, k: int) -> int:
    """The nominal time of grid picture `k`, in whole milliseconds."""
    return round(k * 1000 / fps)
