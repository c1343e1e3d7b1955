"""What ASK gives: an answer with evidence, and enough to replay it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from string import ascii_uppercase
from typing import Literal

import pyarrow as pa

from reeldb.schema.tables import ANSWERS

ASKED = pa.schema(
    [
        ("answer", pa.string()),
        ("choice", pa.struct([("letter", pa.string()), ("text", pa.string())])),
        ("confidence", pa.float64()),
        ("status", pa.string()),
        (
            "evidence",
            pa.list_(
                pa.struct(
                    [
                        ("video", pa.string()),
                        ("start_s", pa.float64()),
                        ("end_s", pa.float64()),
                        ("text", pa.string()),
                        ("key", pa.string()),
                    ]
                )
            ),
        ),
        ("strategy", pa.string()),
        ("reasoner", pa.string()),
        ("calls", pa.int64()),
        ("captions_made", pa.int64()),
        ("captions_reused", pa.int64()),
        ("usd", pa.float64()),
        ("seconds", pa.float64()),
        ("id", pa.string()),
        ("notes", pa.list_(pa.string())),
    ]
)
AnswerStatus = Literal["complete", "partial", "insufficient", "unparsed", "failed"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the options that the question came with."""

    letter: str
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span of a video that the answer rests on; `key` is the ledger address of `text`."""

    video: str
    video_id: str
    start_s: float
    end_s: float
    text: str = ""
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One operator that ran: what went in, what came out, and what it cost."""

    operator: str
    inputs: Mapping[str, object]
    outputs: Mapping[str, object]
    made: int = 0
    reused: int = 0
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question.

    `answer` is text, for a question with options that of the chosen one. `confidence` is in
    0..1 and comparable only between answers of one reasoner. `status` is `insufficient` where
    nothing in the scope could be looked at, `partial` where a budget ended the looking. `usd` is
    what the calls made for it cost, 0 where all models run here, None where it is not known.
    """

    id: str
    question: str
    answer: str
    choice: Choice | None
    confidence: float | None
    status: AnswerStatus
    evidence: tuple[Evidence, ...]
    strategy: str
    reasoner: str
    statement: str = ""
    plan: Mapping[str, object] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    trace: tuple[Step, ...] = ()
    reply_keys: tuple[str, ...] = ()
    calls: int = 0
    captions_made: int = 0
    captions_reused: int = 0
    tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0

    @property
    def text(self) -> str:
        return self.answer

    def __str__(self) -> str:
        return self.answer

    def record(self) -> dict[str, object]:
        """The object that `reel ask --format json` prints (language, 'Command line')."""
        return {
            "answer": self.answer,
            "choice": asdict(self.choice) if self.choice else None,
            "confidence": self.confidence,
            "status": self.status,
            "evidence": [
                {
                    "video": e.video,
                    "start_s": e.start_s,
                    "end_s": e.end_s,
                    "text": e.text,
                    "key": e.key,
                }
                for e in self.evidence
            ],
            "strategy": self.strategy,
            "reasoner": self.reasoner,
            "calls": self.calls,
            "captions_made": self.captions_made,
            "captions_reused": self.captions_reused,
            "usd": None if self.usd is None else round(self.usd, 6),
            "seconds": round(self.seconds, 3),
            "id": self.id,
            "notes": list(self.notes),
        }

    def table(self) -> pa.Table:
        """The row that an ASK statement gives: `record` as typed columns."""
        return pa.Table.from_pylist([self.record()], schema=ASKED)

    def row(self) -> pa.Table:
        """The answer as one row of the `answers` table."""
        values: dict[str, object] = {
            "id": self.id,
            "question": self.question,
            "statement": self.statement,
            "strategy": self.strategy,
            "reasoner": self.reasoner,
            "plan": json.dumps(dict(self.plan)),
            "answer": self.answer,
            "choice": self.choice.letter if self.choice else None,
            "confidence": self.confidence,
            "status": self.status,
            "note": "\n".join(self.notes) or None,
            "evidence": json.dumps([asdict(e) for e in self.evidence]),
            "trace": json.dumps([asdict(s) for s in self.trace]),
            "models": json.dumps(dict(self.models)),
            "reply_keys": list(self.reply_keys),
            "calls": self.calls,
            "captions_made": self.captions_made,
            "captions_reused": self.captions_reused,
            "tokens": self.tokens,
            "usd": self.usd,
            "seconds": self.seconds,
            "created_at": datetime.now(UTC).replace(tzinfo=None),
        }
        return pa.Table.from_pylist([values], schema=ANSWERS)


def choices_of(texts: tuple[str, ...]) -> tuple[Choice, ...]:
    """Options with letters from A; after Z come AA, AB and so on."""
    letters = list(ascii_uppercase) + [a + b for a in ascii_uppercase for b in ascii_uppercase]
    return tuple(Choice(letter, text) for letter, text in zip(letters, texts, strict=False))
