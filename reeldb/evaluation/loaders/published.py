"""A published benchmark: its questions, and those of its videos that the user has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders.videos import Videos
from reeldb.schema.errors import EvaluationError, near

LOADERS = (
    "activitynet", "egoschema", "intentqa", "longvideobench", "lvbench", "mlvu", "nextgqa",
    "nextqa", "qvhighlights", "videomme", "videoxum",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Published:
    """A `Benchmark` out of a publisher's files."""

    name: str
    asked: tuple[Question, ...]
    videos: Videos

    def questions(self) -> Sequence[Question]:
        return self.asked

    def video(self, name: str) -> Path | None:
        return self.videos.find(name)

    def missing(self) -> list[str]:
        """The videos that are asked about and not there, in order."""
        return self.videos.missing(q.video for q in self.asked)


def load(format: str, annotations: Path, videos: Path | None = None) -> Published:
    """A benchmark of the format named (one of LOADERS).

    Raises EvaluationError for an unknown name, a file that is not of the format, an id that
    comes twice, or a folder of videos that is not there. Videos that are missing are no error.
    """
    if format not in LOADERS:
        raise EvaluationError(f"no benchmark format {format!r}; {near(format, LOADERS)}")
    have = Videos.of(videos) if videos else Videos({})
    read: Callable[[Path], list[Question]] = import_module(f"{__package__}.{format}").read
    questions = tuple(read(annotations))
    if twice := [i for i, n in Counter(q.id for q in questions).items() if n > 1]:
        raise EvaluationError(f"{annotations}: {len(twice)} ids come twice, such as {twice[0]!r}")
    return Published(format, questions, have)
