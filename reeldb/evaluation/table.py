"""A run summed up: one row a setting, over all questions and by kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations

from reeldb.evaluation.line import Line
from reeldb.evaluation.metrics.bootstrap import interval
from reeldb.evaluation.metrics.mcnemar import McNemar, mcnemar
from reeldb.evaluation.setting import Named, Setting, models_text

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
    models: str  # those that settings differ in
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
    for told, mine in by_setting(lines).items():
        kinds = list(dict.fromkeys(x.kind for x in mine))
        rows.append(row_of(told, ALL, mine))
        if len(kinds) > 1:
            rows += [row_of(told, k, [x for x in mine if x.kind == k]) for k in kinds]
    return rows


def columns_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """The columns to show: no models where all settings have the same."""
    return tuple(c for c in COLUMNS if c != "models" or any(r.models for r in rows))


def by_setting(lines: Sequence[Line]) -> dict[Setting, list[Line]]:
    """The lines of each setting, in order; its models are those only that settings differ in."""
    settings = list(dict.fromkeys(x.setting for x in lines))
    roles = list(dict.fromkeys(r for s in settings for r, _ in s.models))
    apart = [r for r in roles if len({dict(s.models).get(r) for s in settings}) > 1]
    out: dict[Setting, list[Line]] = {}
    for setting in settings:
        models: Named = tuple((r, a) for r, a in setting.models if r in apart)
        told = replace(setting, models=models)
        out[told] = [x for x in lines if x.setting == setting]
    return out


@dataclass(frozen=True, slots=True)
class Pair:
    """Two settings and McNemar's test of them, on the questions that both were judged on."""

    first: Setting
    second: Setting
    questions: int
    test: McNemar


def pairs(lines: Sequence[Line]) -> list[Pair]:
    """Each two settings that share a judged question."""
    out: list[Pair] = []
    for (a, mine), (b, other) in combinations(by_setting(lines).items(), 2):
        first = {x.question: x.right for x in mine if x.right is not None}
        second = {x.question: x.right for x in other if x.right is not None}
        both = [q for q in first if q in second]
        if both:
            test = mcnemar([bool(first[q]) for q in both], [bool(second[q]) for q in both])
            out.append(Pair(a, b, len(both), test))
    return out


def comparisons(lines: Sequence[Line]) -> list[str]:
    """The pairs as sentences."""
    return [
        f"{p.first.name} against {p.second.name}: {p.test.only_first} questions only the first "
        f"answered rightly, {p.test.only_second} only the second, p = {p.test.p:.3g}"
        for p in pairs(lines)
    ]


def row_of(setting: Setting, kind: str, lines: Sequence[Line]) -> Row:
    """One row over some lines, at least one, of a setting."""
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
        setting.strategy, setting.budget, models_text(setting.models), kind, len(lines),
        found.mean if found else None, found.low if found else None, found.high if found else None,
        mean(recalls) if recalls else None,
        status("unparsed"), status("failed"), status("insufficient"), status("partial"),
        mean([x.captions_made for x in lines]), mean([x.captions_reused for x in lines]),
        mean([x.calls for x in lines]), mean([x.tokens for x in lines]),
        None if None in dollars else mean([d for d in dollars if d is not None]),
        mean([x.seconds for x in lines]),
    )  # fmt: skip
