"""Runs strategies over a benchmark: one line of JSON an answer, so that a stopped run goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reeldb.evaluation.benchmark import Benchmark, Question
from reeldb.evaluation.line import Line, key_of, read_run, recall_of
from reeldb.evaluation.setting import Setting
from reeldb.schema.errors import EvaluationError, ReelError

if TYPE_CHECKING:
    from reeldb.database import Database
    from reeldb.query.answer import Answer

Told = Callable[[str, int, int], None]  # what, how many are done, of how many


@dataclass(frozen=True, slots=True)
class Run:
    """The lines of every question and setting, in order; the videos that are not there or
    cannot be indexed, with the reason; and what else there is to say of the lines."""

    lines: tuple[Line, ...]
    missing: tuple[str, ...]
    asked: int  # questions that were asked now, not taken from the file
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Video:
    """A video of the benchmark in the archive."""

    id: str
    duration_s: float


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
    `failed`. The archive keeps the models that it names, whatever the settings name. Raises
    BindError for a strategy or option that there is not, and ModelError for such a model.
    """
    questions = benchmark.questions()
    with ExitStack() as stack:
        dbs = _databases(db, settings, stack)
        _check(settings)
        videos, missing = _videos(db, benchmark, questions, told)
        wanted = [
            (s, q, key_of(q, s)) for s in dbs for q in questions if q.video in videos
        ]  # fmt: skip
        kept = {line.key: line for line in read_run(file)}
        open_now = sum(key not in kept for _, _, key in wanted)
        file.parent.mkdir(parents=True, exist_ok=True)
        done = 0
        with file.open("a", encoding="utf-8") as out:
            for setting, question, key in wanted:
                if key in kept:
                    continue
                video = videos[question.video]
                kept[key] = _asked(dbs[setting], question, setting, key, video)
                out.write(kept[key].json() + "\n")
                out.flush()
                done += 1
                if told is not None:
                    told("questions", done, open_now)
    lines = (
        replace(kept[key], models=s.models, duration_s=videos[q.video].duration_s)
        for s, q, key in wanted
    )  # lines of before may lack them
    return Run(tuple(lines), missing, done)


def _databases(
    db: Database, settings: Sequence[Setting], stack: ExitStack
) -> dict[Setting, Database]:
    """The settings with the models of all roles, each once, and what asks their models."""
    by_models: dict[object, Database] = {(): db}
    out: dict[Setting, Database] = {}
    for setting in settings:
        if setting.models not in by_models:
            other = db.with_models(dict(setting.models))
            by_models[setting.models] = stack.enter_context(other)
        one = by_models[setting.models]
        models = tuple((str(r), a) for r, a in one.models.roles.items() if a)
        out.setdefault(replace(setting, models=models), one)
    return out


def _videos(
    db: Database, benchmark: Benchmark, questions: Sequence[Question], told: Told | None
) -> tuple[dict[str, Video], tuple[str, ...]]:
    """The archive's row of each video, and what is wrong with the others."""
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
    durations = dict(db.sql("SELECT video_id, duration_s FROM videos").fetchall()) if ids else {}
    videos = {n: Video(i, float(durations[i])) for n, i in ids.items()}
    return videos, tuple(missing[n] for n in names if n in missing)


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


def _asked(db: Database, question: Question, setting: Setting, key: str, video: Video) -> Line:
    from reeldb.query.parse import using

    used = using(setting.strategy)
    blank = Line(
        key=key, question=question.id, video=question.video, kind=question.kind,
        strategy=setting.strategy, budget=setting.budget, status="failed", answer="",
        right=_right(question, ""), recall=recall_of(question.spans, ()), evidence=(),
        reasoner="", captions_made=0, captions_reused=0, calls=0, tokens=0, seconds=0.0,
        answer_id="", notes=(), duration_s=video.duration_s, models=setting.models,
    )  # fmt: skip
    try:
        answer = db.ask(
            question.question,
            video=video.id,
            choices=question.choices,
            strategy=used.name,
            options=used.options,
            budget=setting.budget or None,
        )
    except ReelError as error:
        return replace(blank, usd=_nothing(setting), notes=(str(error),))
    return _answered(blank, question, answer)


def _answered(blank: Line, question: Question, answer: Answer) -> Line:
    evidence = tuple((e.start_s, e.end_s) for e in answer.evidence)
    return replace(
        blank, status=answer.status, answer=answer.answer, right=_right(question, answer.answer),
        recall=recall_of(question.spans, evidence), evidence=evidence, reasoner=answer.reasoner,
        captions_made=answer.captions_made, captions_reused=answer.captions_reused,
        calls=answer.calls, tokens=answer.tokens, seconds=round(answer.seconds, 3),
        answer_id=answer.id, notes=answer.notes,
        usd=answer.usd if answer.usd is None else round(answer.usd, 6),
    )  # fmt: skip


def _nothing(setting: Setting) -> float | None:
    """What a question cost that failed: nothing where no model is paid, else nobody knows."""
    from reeldb.models.registry import NONE
    from reeldb.query.prices import is_here

    return 0.0 if all(a == NONE or is_here(a) for _, a in setting.models) else None


def _right(question: Question, answer: str) -> bool | None:
    """Only the answer to a question with options can be compared word by word."""
    return answer == question.answer if question.choices and question.answer else None
