"""A question that was asked, as one line of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.setting import Named, Setting
from reeldb.schema.digests import request_key
from reeldb.schema.errors import EvaluationError

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """What came of one question. `key` is the address of the whole request: benchmark question,
    setting and models. `right` is None where there is nothing to compare the answer with.

    `recall` is the share of the annotated spans that some evidence overlaps, None without spans.
    The fields with defaults are missing in files of before.
    """

    key: str
    question: str
    video: str
    kind: str
    strategy: str
    budget: str
    status: str
    answer: str
    right: bool | None
    recall: float | None
    evidence: tuple[Span, ...]
    reasoner: str
    captions_made: int
    captions_reused: int
    calls: int
    tokens: int
    seconds: float
    answer_id: str
    notes: tuple[str, ...]
    usd: float | None = None  # not known where some model that was called has no price
    duration_s: float | None = None  # of the video
    models: Named = ()  # of every role that had one

    @property
    def setting(self) -> Setting:
        return Setting(self.strategy, self.budget, self.models)

    def json(self) -> str:
        return json.dumps({**asdict(self), "models": dict(self.models)}, ensure_ascii=False)


def key_of(question: Question, setting: Setting) -> str:
    """The address of a question asked in a setting that names the model of every role."""
    return request_key(
        {
            "what": "evaluation",
            "id": question.id,
            "video": question.video,
            "question": question.question,
            "choices": list(question.choices),
            "strategy": setting.strategy,
            "budget": setting.budget,
            "models": dict(setting.models),
        }
    )


def read_run(file: Path) -> list[Line]:
    """The lines of a file that `run` wrote; none where there is no file.

    A last line that was cut off by a kill is taken out of the file.
    """
    if not file.exists():
        return []
    text = file.read_text("utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole, "utf-8")
    return list(_lines(whole, file))


def _lines(text: str, file: Path) -> Iterator[Line]:
    for number, row in enumerate(text.split("\n"), 1):
        if not row:
            continue
        try:
            value: dict[str, Any] = json.loads(row)
            value["evidence"] = tuple((a, b) for a, b in value["evidence"])
            value["models"] = tuple((str(r), str(a)) for r, a in value.get("models", {}).items())
            yield Line(**{**value, "notes": tuple(value["notes"])})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise EvaluationError(
                f"{file}, line {number}: not a line of an evaluation run; name another file"
            ) from error


def recall_of(spans: Sequence[Span], evidence: Sequence[Span]) -> float | None:
    """The share of the spans that some evidence overlaps; None without spans.

    >>> recall_of([(0, 5), (8, 9)], [(4, 6)])
    0.5
    """
    if not spans:
        return None
    found = sum(any(a < end and start < b for start, end in evidence) for a, b in spans)
    return found / len(spans)
