"""The whole page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.metrics.bootstrap import RESAMPLES, SEED
from reeldb.evaluation.report import sections
from reeldb.evaluation.report.style import STYLE
from reeldb.evaluation.report.text import listed, safe
from reeldb.evaluation.run import Run
from reeldb.evaluation.table import VIDEOS_TO_GROUP, by_setting

MOST_NOTES = 50
POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # nothing is fetched, nothing is run


@dataclass(frozen=True, slots=True)
class About:
    """What the heading says: the benchmark, its seed where it was made from one, when and by
    which version the page was written, and the questions where they can still be read."""

    name: str
    version: str
    when: datetime
    seed: str = ""
    questions: Sequence[Question] = ()


def page(run: Run, about: About) -> str:
    """The report of a run as one HTML document."""
    told = by_setting(run.lines)
    title = f"{about.name}: evaluation"
    parts = [f"<h1>{safe(title)}</h1>", _heading(run, about)]
    if told:
        kinds = list(dict.fromkeys(x.kind for x in run.lines))
        long = {sections.duration_class(x.duration_s) for x in run.lines}
        parts += [
            _part("Settings", _HOW, sections.results(told)),
            _part("Accuracy and cost", _WHAT, sections.plots(told)),
            _part("By kind of question", "", sections.accuracy_by(
                told, "kind", lambda x: x.kind, kinds)),
            _part("By duration of the video", "", sections.accuracy_by(
                told, "video", lambda x: sections.duration_class(x.duration_s),
                [d for d in sections.DURATIONS if d in long])),
            _part("Statuses", "", sections.statuses(told)),
            _part("Differences between settings", _TEST, sections.tests(run.lines)),
        ]  # fmt: skip
    else:
        parts.append("<p>No question was asked.</p>")
    parts.append(_part("Missing videos", "", listed(run.missing) if run.missing else _NONE))
    parts.append(_part("Notes", "", _notes(run)))
    if told:
        parts.append(_part("Answers", "", sections.answers(told, about.questions)))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{safe(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


_NONE = "<p>None are known.</p>"
_HOW = (
    "Captions, calls, tokens, dollars and seconds are means a question. Accuracy counts answers "
    "that are unparsed, failed or insufficient as wrong; its interval is a bootstrap of "
    f"{RESAMPLES:,} resamples (seed {SEED}), of whole videos from {VIDEOS_TO_GROUP} videos on, "
    "else of questions. Dollars are unknown where a model that was called has no price."
)
_WHAT = (
    "A point is a setting, by its number in the table; its whisker is the 95 % interval. "
    "Points of the same cost stand side by side."
)
_TEST = (
    "McNemar's exact test on the questions that both settings were judged on; p is not corrected "
    "for the number of pairs."
)


def _part(name: str, about: str, body: str) -> str:
    said = f'<p class="faint">{safe(about)}</p>\n' if about else ""
    return f"<section>\n<h2>{safe(name)}</h2>\n{said}{body}\n</section>"


def _heading(run: Run, about: About) -> str:
    models = list(dict.fromkeys(x.models for x in run.lines))
    facts = [
        ("written", about.when.strftime("%Y-%m-%d %H:%M %Z").strip()),
        ("reeldb", about.version),
        ("seeds", f"benchmark {about.seed or 'none'}; bootstrap {SEED}"),
        ("questions", f"{len({x.question for x in run.lines}):,}"),
        ("videos", f"{len({x.video for x in run.lines}):,}"),
        ("answers", f"{run.asked:,} asked now, {len(run.lines) - run.asked:,} taken from the file"),
    ]
    facts += [("setting", s.name) for s in by_setting(run.lines)]
    for number, named in enumerate(models, 1):
        which = f" {number}" if len(models) > 1 else ""
        text = ", ".join(f"{r} = {a}" for r, a in named) or "not named in the file"
        facts.append((f"models{which}", text))
    rows = "".join(f"<dt>{safe(k)}</dt><dd>{safe(v)}</dd>" for k, v in facts)
    return f"<dl>{rows}</dl>"


def _notes(run: Run) -> str:
    """What is said of the run, and of its answers with how many it is said of."""
    counts = Counter(n for x in run.lines for n in x.notes)
    said = [f"{n} ({c:,} answers)" for n, c in counts.most_common(MOST_NOTES)]
    if len(counts) > MOST_NOTES:
        said.append(f"{len(counts) - MOST_NOTES:,} other notes of answers")
    every = [*run.notes, *said]
    return listed(every) if every else _NONE
