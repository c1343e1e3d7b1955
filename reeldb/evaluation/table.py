"""A run summed up: one row a setting, over all questions and by kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import combinations

from reeldb.evaluation.metrics.bootstrap import interval
from reeldb.evaluation.metrics.mcnemar import mcnemar
from reeldb.evaluation.run import Line, Setting

ALL = "all"
VIDEOS_TO_GROUP = 10  # from so many videos on whole videos are resampled


@dataclass(frozen=True, slots=True)
class Row:
    """Means a question, but for counts of statuses, which are questions.

    `accuracy` counts unparsed, failed, insufficient and partial answers that are not right as
    wrong; `low` and `high` are its 95 % bootstrap interval. `recall` is that of evidence. `usd` is
    None where what one question cost is not known.
    """

    strategy: str
    budget: str
    kind: str
    questions: int
    accuracy: float | None
    low: float | None
    high: float | None
    recall: float | None
    unparsed: int
    failed: int
    insufficient: int
    partial: int
    captions_made: float
    captions_reused: float
    calls: float
    tokens: float
    usd: float | None
    seconds: float


COLUMNS = tuple(f.name for f in fields(Row))


def rows_of(lines: Sequence[Line]) -> list[Row]:
    """Settings in the order in which they were run, each over all and by kind."""
    rows: list[Row] = []
    for setting in _settings(lines):
        mine = [x for x in lines if _setting(x) == setting]
        kinds = list(dict.fromkeys(x.kind for x in mine))
        rows.append(_row(setting, ALL, mine))
        if len(kinds) > 1:
            rows += [_row(setting, k, [x for x in mine if x.kind == k]) for k in kinds]
    return rows


def comparisons(lines: Sequence[Line]) -> list[str]:
    """McNemar's test between each two settings, on the questions that both were asked."""
    out: list[str] = []
    for a, b in combinations(_settings(lines), 2):
        first = {x.question: x.right for x in lines if _setting(x) == a and x.right is not None}
        second = {x.question: x.right for x in lines if _setting(x) == b and x.right is not None}
        both = [q for q in first if q in second]
        if both:
            test = mcnemar([bool(first[q]) for q in both], [bool(second[q]) for q in both])
            out.append(
                f"{a.name} against {b.name}: {test.only_first} questions only the first answered "
                f"rightly, {test.only_second} only the second, p = {test.p:.3g}"
            )
    return out


def _settings(lines: Sequence[Line]) -> list[Setting]:
    return list(dict.fromkeys(map(_setting, lines)))


def _setting(line: Line) -> Setting:
    return Setting(line.strategy, line.budget)


def _row(setting: Setting, kind: str, lines: Sequence[Line]) -> Row:
    judged = [x for x in lines if x.right is not None]
    videos = [x.video for x in judged]
    groups = videos if len(set(videos)) >= VIDEOS_TO_GROUP else None
    found = interval([float(bool(x.right)) for x in judged], groups) if judged else None
    dollars = [x.usd for x in lines]
    recalls = [x.recall for x in lines if x.recall is not None]

    def status(name: str) -> int:
        return sum(x.status == name for x in lines)

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    return Row(
        setting.strategy, setting.budget, kind, len(lines),
        found.mean if found else None, found.low if found else None, found.high if found else None,
        mean(recalls) if recalls else None,
        status("unparsed"), status("failed"), status("insufficient"), status("partial"),
        mean([x.captions_made for x in lines]), mean([x.captions_reused for x in lines]),
        mean([x.calls for x in lines]), mean([x.tokens for x in lines]),
        None if None in dollars else mean([d for d in dollars if d is not None]),
        mean([x.seconds for x in lines]),
    )  # fmt: skip
