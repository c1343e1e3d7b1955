"""A benchmark: videos and questions with known answers.

A folder holds `questions.jsonl`, one JSON object a line, and the videos in `videos/`:

```json
{"id": "v000-needle-0", "video": "v000.mp4", "kind": "needle", "question": "What does ...?",
 "choices": ["a lamp", "a rope"], "answer": "a rope", "spans": [[12.5, 18.0]], "asks": {}}
```

`answer` is one of `choices`, or free text where there are none. `spans` are the stretches, in
seconds, that the answer rests on. `asks` says the same question to a machine (made benchmarks:
`made.questions`); other benchmarks leave it out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from reeldb.schema.errors import EvaluationError

QUESTIONS, EVENTS, VIDEOS = "questions.jsonl", "events.jsonl", "videos"


@dataclass(frozen=True, slots=True)
class Question:
    """One question about one video. `video` is a file name, or what `Benchmark.video` finds it by.

    `kind` groups questions. `answer` is empty where the publisher withholds it, or where `spans`
    are the answer. `more` is whatever else the publisher says of it.
    """

    id: str
    video: str
    question: str
    answer: str
    choices: tuple[str, ...] = ()
    kind: str = ""
    spans: tuple[tuple[float, float], ...] = ()
    asks: Mapping[str, Any] = field(default_factory=dict)
    duration_s: float | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.choices and self.answer and self.answer not in self.choices:
            raise EvaluationError(
                f"question {self.id}: the answer {self.answer!r} is none of its choices"
            )


class Benchmark(Protocol):
    """What the harness needs: where the videos lie, and what is asked about them."""

    @property
    def name(self) -> str: ...

    def questions(self) -> Sequence[Question]: ...

    def video(self, name: str) -> Path | None:
        """The file of a video, None where the user does not have it."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """A benchmark in a folder, as the module says."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.resolve().name

    def questions(self) -> list[Question]:
        """Raises EvaluationError for a folder or a line that is not of the format."""
        file = self.path / QUESTIONS
        questions = [_question(row, where) for row, where in read_lines(file)]
        twice = {q.id for q in questions if sum(q.id == r.id for r in questions) > 1}
        if twice:
            raise EvaluationError(f"{file}: two questions have the id {min(twice)!r}")
        return questions

    def video(self, name: str) -> Path | None:
        path = self.path / VIDEOS / name
        return path if path.is_file() else None


def read_lines(file: Path) -> list[tuple[dict[str, Any], str]]:
    """Each line's JSON object, and where it stands. Raises EvaluationError."""
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        why = error.strerror or str(error)
        raise EvaluationError(
            f"{file}: {why}; a benchmark folder has {QUESTIONS} and {VIDEOS}/ "
            "(`reel eval make DIR` makes one)"
        ) from error
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{file}, line {number}"
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise EvaluationError(f"{where}: not JSON: {error}") from error
        if not isinstance(row, dict):
            raise EvaluationError(f"{where}: not a JSON object")
        rows.append((row, where))
    return rows


def write_lines(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """One JSON object a line, the same text for the same rows."""
    lines = [json.dumps(dict(row), ensure_ascii=False) + "\n" for row in rows]
    file.write_text("".join(lines), "utf-8")


def _question(row: dict[str, Any], where: str) -> Question:
    for name in ("id", "video", "question", "answer"):
        if not isinstance(row.get(name), str):
            raise EvaluationError(f"{where}: {name!r} is missing or not a text")
    try:
        spans = tuple((float(a), float(b)) for a, b in row.get("spans", ()))
    except (TypeError, ValueError) as error:
        raise EvaluationError(f"{where}: spans are pairs of seconds") from error
    return Question(
        row["id"],
        row["video"],
        row["question"],
        row["answer"],
        tuple(map(str, row.get("choices", ()))),
        str(row.get("kind", "")),
        spans,
        dict(row.get("asks", {})),
    )
