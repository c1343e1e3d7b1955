"""A run again from its file alone: no archive is opened, no video read, no model loaded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.line import Line, key_of, read_run
from reeldb.evaluation.run import Run
from reeldb.evaluation.setting import Setting
from reeldb.schema.errors import EvaluationError

SHOWN = 5  # ids of questions that a note names


def replay(file: Path, questions: Sequence[Question] | None, settings: Sequence[Setting]) -> Run:
    """The lines that a run of these settings (none: of all in the file) would take from the file.

    `questions` are the benchmark's, in whose order the lines come; questions that the file lacks,
    or holds in another wording, are told in the notes. None takes the file's own. Raises
    EvaluationError where there is no file.
    """
    if not file.exists():
        raise EvaluationError(f"{file}: no such file; a replay needs the answers of a run")
    known = read_run(file)
    chosen, notes = _chosen(list(dict.fromkeys(x.setting for x in known)), settings, file)
    lines: list[Line] = []
    for setting in chosen:
        mine = [x for x in known if x.setting == setting]
        if questions is None:
            lines += {x.question: x for x in mine}.values()
            continue
        found = {q.id: line for q in questions if (line := _of(q, setting, mine)) is not None}
        lines += found.values()
        lost = [q.id for q in questions if q.id not in found]
        if lost:
            notes.append(
                f"{_short(setting)}: {len(lost)} of {len(questions)} questions are not in {file}: "
                f"{', '.join(lost[:SHOWN])}{', ...' if len(lost) > SHOWN else ''}"
            )
    there = {x.video for x in lines}
    gone = dict.fromkeys(q.video for q in questions or () if q.video not in there)
    missing = tuple(f"{v} has no answer in {file}" for v in gone)
    return Run(tuple(lines), missing, 0, tuple(notes))


def _chosen(
    there: Sequence[Setting], wanted: Sequence[Setting], file: Path
) -> tuple[list[Setting], list[str]]:
    """The settings of the file that are wanted, in the order in which they are, and a note for
    each that is not there."""
    if not wanted:
        return list(there), []
    chosen: dict[Setting, None] = {}
    notes = []
    for setting in wanted:
        found = [s for s in there if _is(s, setting)]
        chosen |= dict.fromkeys(found)
        if not found:
            notes.append(f"{setting.name}: nothing of it is in {file}")
    return list(chosen), notes


def _is(there: Setting, wanted: Setting) -> bool:
    same = (there.strategy, there.budget) == (wanted.strategy, wanted.budget)
    return same and set(wanted.models) <= set(there.models)


def _of(question: Question, setting: Setting, lines: Iterable[Line]) -> Line | None:
    """The last line of the question as it stands. Lines of before name no models, so that only
    their id can be compared."""
    key = key_of(question, setting) if setting.models else None
    found = [x for x in lines if x.question == question.id and key in (None, x.key)]
    return found[-1] if found else None


def _short(setting: Setting) -> str:
    return Setting(setting.strategy, setting.budget).name
