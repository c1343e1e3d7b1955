"""The parts of a report: tables and plots of the lines of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.line import Line
from reeldb.evaluation.report.plot import COLOURS, Point, plot
from reeldb.evaluation.report.text import Cell, count, ends, mean, safe, share, table, usd
from reeldb.evaluation.setting import Setting
from reeldb.evaluation.table import ALL, Row, pairs, row_of

SHORT_S, LONG_S = 300.0, 1800.0
DURATIONS = ("short (under 5 min)", "medium (5 to 30 min)", "long (over 30 min)", "not known")
MOST_ANSWERS = 1000  # that a page lists
HEAD = ("#", "strategy", "budget", "models", "questions", "accuracy", "95 % interval",
        "recall", "unparsed", "failed", "insufficient", "partial", "captions made",
        "captions reused", "calls", "tokens", "USD", "seconds")  # fmt: skip
Told = Mapping[Setting, Sequence[Line]]


def duration_class(seconds: float | None) -> str:
    """Which of DURATIONS a video is of.

    >>> duration_class(299.9), duration_class(1800)
    ('short (under 5 min)', 'medium (5 to 30 min)')
    """
    if seconds is None:
        return DURATIONS[3]
    return DURATIONS[0 if seconds < SHORT_S else 2 if seconds > LONG_S else 1]


def results(told: Told) -> str:
    """The table of settings, over all questions."""
    shown = [n for n, h in enumerate(HEAD) if h != "models" or any(s.models for s in told)]
    rows = [_result(i, row_of(s, ALL, x)) for i, (s, x) in enumerate(told.items(), 1)]
    return table([HEAD[n] for n in shown], [[row[n] for n in shown] for row in rows])


def _result(number: int, row: Row) -> list[Cell]:
    return [
        count(number), Cell(row.strategy), Cell(row.budget), Cell(row.models),
        count(row.questions), share(row.accuracy), Cell(ends(row.low, row.high)),
        share(row.recall), count(row.unparsed), count(row.failed), count(row.insufficient),
        count(row.partial), mean(row.captions_made), mean(row.captions_reused), mean(row.calls),
        mean(row.tokens), usd(row.usd), mean(row.seconds),
    ]  # fmt: skip


def plots(told: Told) -> str:
    """Accuracy against captions made, calls and seconds, means a question."""
    rows = [row_of(s, ALL, x) for s, x in told.items()]
    names = [s.name for s in told]

    def points(value: Callable[[Row], float]) -> list[Point]:
        return [
            Point(i, n, value(r), r.accuracy, r.low, r.high)
            for i, (n, r) in enumerate(zip(names, rows, strict=True), 1)
            if r.accuracy is not None and r.low is not None and r.high is not None
        ]

    if not points(lambda r: r.calls):
        return "<p>No answer could be judged.</p>"
    drawn = [
        plot(points(lambda r: r.captions_made), "captions made a question"),
        plot(points(lambda r: r.calls), "calls a question"),
        plot(points(lambda r: r.seconds), "seconds a question"),
    ]
    legend = "".join(
        f'<li class="c{i % COLOURS}"><b>{i + 1}</b> {safe(n)}</li>' for i, n in enumerate(names)
    )
    shown = "\n".join(drawn)
    return f'<div class="plots">\n{shown}\n</div>\n<ul class="legend">{legend}</ul>'


def accuracy_by(told: Told, what: str, of: Callable[[Line], str], order: Sequence[str]) -> str:
    """Accuracy of each setting on each group of the questions, with their number."""
    head = (what, *(h for i, _ in enumerate(told, 1) for h in (f"questions {i}", f"accuracy {i}",
            f"95 % interval {i}")))  # fmt: skip
    rows = []
    for group in order:
        cells = [Cell(group or "none named")]
        for setting, lines in told.items():
            mine = [x for x in lines if of(x) == group]
            row = row_of(setting, group, mine) if mine else None
            cells += [
                count(len(mine)), share(row.accuracy if row else None),
                Cell(ends(row.low, row.high) if row else ends(None, None)),
            ]  # fmt: skip
        rows.append(cells)
    return table(head, rows)


def statuses(told: Told) -> str:
    """How many answers of each status were right, wrong or not judged."""
    rows = []
    for i, (setting, lines) in enumerate(told.items(), 1):
        for status in dict.fromkeys(x.status for x in lines):
            rights = Counter(x.right for x in lines if x.status == status)
            rows.append([count(i), Cell(setting.name), Cell(status), count(rights[True]),
                         count(rights[False]), count(rights[None])])  # fmt: skip
    return table(("#", "setting", "status", "right", "wrong", "not judged"), rows)


def tests(lines: Sequence[Line]) -> str:
    """McNemar's test between each two settings."""
    rows = [
        [Cell(p.first.name), Cell(p.second.name), count(p.questions), count(p.test.only_first),
         count(p.test.only_second), Cell(f"{p.test.p:.3g}", p.test.p)]
        for p in pairs(lines)
    ]  # fmt: skip
    if not rows:
        return "<p>There are no two settings with the same questions judged.</p>"
    head = ("first", "second", "questions", "right in the first only", "in the second only", "p")
    return table(head, rows)


def answers(told: Told, questions: Sequence[Question]) -> str:
    """Every answer, to be opened; what was asked and what is right where it is known."""
    known = {q.id: q for q in questions}
    every = [(i, x) for i, lines in enumerate(told.values(), 1) for x in lines]
    rank = {q: i for i, q in enumerate(known)}
    every.sort(key=lambda at: rank.get(at[1].question, len(rank)))
    rows = []
    for number, x in every[:MOST_ANSWERS]:
        q = known.get(x.question)
        judged = {True: "right", False: "wrong", None: "not judged"}[x.right]
        rows.append([Cell(x.question), Cell(x.video), Cell(q.question if q else ""),
                     count(number), Cell(x.answer), Cell(q.answer if q else ""), Cell(judged),
                     Cell(x.status)])  # fmt: skip
    left = len(every) - len(rows)
    more = f"<p>{left:,} more are in the file of answers.</p>" if left else ""
    head = ("question", "video", "asked", "#", "answer", "known answer", "judged", "status")
    named = f"{len(every):,} answers"
    return f"<details><summary>{safe(named)}</summary>{table(head, rows)}{more}</details>"
