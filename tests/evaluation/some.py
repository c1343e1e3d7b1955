"""A few questions of a made benchmark, so that tests are fast."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reeldb.evaluation.benchmark import Folder, Question
from reeldb.evaluation.line import Line
from reeldb.evaluation.run import Run


class Some:
    """The first `count` questions of a folder (of five, one a kind), and others."""

    name = "some"

    def __init__(self, folder: Path, extra: tuple[Question, ...] = (), count: int = 5) -> None:
        self.folder, self.extra, self.count = Folder(folder), extra, count

    def questions(self) -> list[Question]:
        return [*self.folder.questions()[: self.count], *self.extra]

    def video(self, name: str) -> Path | None:
        return self.folder.video(name)


def without_time(done: Run) -> list[Line]:
    """What two runs of the same must agree in, to the digit."""
    return [replace(x, seconds=0.0, answer_id="") for x in done.lines]
