"""Runs strategies over a benchmark: one line of JSON an answer, so that a stopped run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reeldb.evaluation.benchmark import Benchmark, Question
from reeldb.schema.digests import request_key
from reeldb.schema.errors import EvaluationError, ReelError

if TYPE_CHECKING:
    from reeldb.database import Database
    from reeldb.query.answer import Answer

Told = Callable[[str, int, int], None]  # what, how many are done, of how many
Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Setting:
    """How the questions are asked: a strategy as USING writes it, and a budget as BUDGET does."""

    strategy: str
    budget: str = ""

    @property
    def name(self) -> str:
        return f"{self.strategy} / {self.budget}" if self.budget else self.strategy


@dataclass(frozen=True, slots=True)
class Line:
    """What came of one question. `key` is the address of the whole request: benchmark question,
    setting and models. `right` is None where there is nothing to compare the answer with.

    `recall` is the share of the annotated spans that some evidence overlaps, None without spans.
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


@dataclass(frozen=True, slots=True)
class Run:
    """The lines of every question and setting, in order, and the videos that are not there or
    cannot be indexed, with the reason."""

    lines: tuple[Line, ...]
    missing: tuple[str, ...]
    asked: int  # questions that were asked now, not taken from the file


def run(
    db: Database,
    benchmark: Benchmark,
    settings: Sequence[Setting],
    file: Path,
    *,
    told: Told | None = None,
) -> Run:
    """Asks every question of every setting, but those that `file` holds; new lines are appended.

    Videos that the archive lacks are added first. A question that fails is a line of status
    `failed`. Raises BindError for a strategy or option that there is not.
    """
    questions = benchmark.questions()
    ids, missing = _videos(db, benchmark, questions, told)
    present = [q for q in questions if q.video in ids]
    models = {str(r): a for r, a in db.models.roles.items() if a}
    _check(settings)
    wanted = [(s, q, _key(q, s, models)) for s in settings for q in present]
    kept = {line.key: line for line in read_run(file)}
    open_now = sum(key not in kept for _, _, key in wanted)
    file.parent.mkdir(parents=True, exist_ok=True)
    done = 0
    with file.open("a", encoding="utf-8") as out:
        for setting, question, key in wanted:
            if key in kept:
                continue
            kept[key] = _asked(db, question, setting, key, ids[question.video])
            out.write(json.dumps(asdict(kept[key]), ensure_ascii=False) + "\n")
            out.flush()
            done += 1
            if told is not None:
                told("questions", done, open_now)
    return Run(tuple(kept[key] for _, _, key in wanted), missing, done)


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
            yield Line(**{**value, "notes": tuple(value["notes"])})
        except (ValueError, TypeError, KeyError) as error:
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


def _videos(
    db: Database, benchmark: Benchmark, questions: Sequence[Question], told: Told | None
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The archive's id of each video, and what is wrong with the others."""
    names = list(dict.fromkeys(q.video for q in questions))
    files = {n: p for n in names if (p := benchmark.video(n)) is not None}
    ids: dict[str, str] = {}
    missing = {n: f"{n} is not there" for n in names if n not in files}
    for number, (name, path) in enumerate(files.items(), 1):
        [item] = db.add(path).items
        if item.video_id is None:
            missing[name] = f"{name} cannot be indexed: {item.message}"
        else:
            ids[name] = item.video_id
        if told is not None:
            told("videos", number, len(files))
    return ids, tuple(missing[n] for n in names if n in missing)


def _check(settings: Sequence[Setting]) -> None:
    """Raises the error of a setting before anything is paid for."""
    from reeldb.database import budget_of
    from reeldb.query.parse import using
    from reeldb.query.strategies.registry import chosen

    if not settings:
        raise EvaluationError("no strategy to run; name one with --strategy")
    for setting in settings:
        used = using(setting.strategy)
        chosen(used.name, used.options)
        budget_of(setting.budget or None)


def _key(question: Question, setting: Setting, models: dict[str, str]) -> str:
    return request_key(
        {
            "what": "evaluation",
            "id": question.id,
            "video": question.video,
            "question": question.question,
            "choices": list(question.choices),
            "strategy": setting.strategy,
            "budget": setting.budget,
            "models": models,
        }
    )


def _asked(db: Database, question: Question, setting: Setting, key: str, video_id: str) -> Line:
    from reeldb.models.registry import NONE
    from reeldb.query.parse import using
    from reeldb.query.prices import is_here

    used = using(setting.strategy)
    try:
        answer = db.ask(
            question.question,
            video=video_id,
            choices=question.choices,
            strategy=used.name,
            options=used.options,
            budget=setting.budget or None,
        )
    except ReelError as error:
        here = all(is_here(a) for a in db.models.roles.values() if a and a != NONE)
        return replace(_failed(question, setting, key, str(error)), usd=0.0 if here else None)
    return _line(question, setting, key, answer)


def _line(question: Question, setting: Setting, key: str, answer: Answer) -> Line:
    evidence = tuple((e.start_s, e.end_s) for e in answer.evidence)
    return Line(
        key=key, question=question.id, video=question.video, kind=question.kind,
        strategy=setting.strategy, budget=setting.budget, status=answer.status,
        answer=answer.answer, right=_right(question, answer.answer),
        recall=recall_of(question.spans, evidence), evidence=evidence, reasoner=answer.reasoner,
        captions_made=answer.captions_made, captions_reused=answer.captions_reused,
        calls=answer.calls, tokens=answer.tokens, seconds=round(answer.seconds, 3),
        answer_id=answer.id, notes=answer.notes,
        usd=answer.usd if answer.usd is None else round(answer.usd, 6),
    )  # fmt: skip


def _failed(question: Question, setting: Setting, key: str, why: str) -> Line:
    return Line(
        key=key, question=question.id, video=question.video, kind=question.kind,
        strategy=setting.strategy, budget=setting.budget, status="failed", answer="",
        right=_right(question, ""), recall=recall_of(question.spans, ()), evidence=(),
        reasoner="", captions_made=0, captions_reused=0, calls=0, tokens=0, seconds=0.0,
        answer_id="", notes=(why,),
    )  # fmt: skip


def _right(question: Question, answer: str) -> bool | None:
    """Only the answer to a question with options can be compared word by word."""
    return answer == question.answer if question.choices and question.answer else None
