"""The markdown page of a comparison, from what every run gave."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.peers.contestants import REEL, Contestant
from benchmarks.peers.measure import Outcome, Took
from benchmarks.peers.step import LIMIT, STEPS, WANTED, WORDS

HEADS = {
    "index": "index",
    "first": "first question",
    "second": "second question",
    "limit": f"LIMIT {LIMIT}",
    "again": "LIMIT again",
}

OVER = f"""Medians over those of the row {REEL} of the same run: above 1 is slower, more calls, more
bytes. *Work* is the step's own seconds, *process* the whole process with its start-up.
"""


@dataclass(frozen=True, slots=True)
class Made:
    """How a page was made: the clip, the model, the machine."""

    date: str
    machine: str
    seconds: int
    shots: int
    latency_s: float
    repeats: int
    at_once: int
    wanted: dict[str, int] = field(default_factory=dict)  # rows a step should find, by step


def page(made: Made, whom: Sequence[Contestant], outcomes: Sequence[Outcome]) -> str:
    """The whole page; a contestant without a good run gets its error for a row."""
    runs = {w.name: [o for o in outcomes if o.name == w.name] for w in whom}
    parts = [_head(made), "## Measured\n", _measured(whom, runs), "## Set against ReelDB\n", OVER]
    parts += [_ratios(whom, runs), "## How each did it, and what was seen to be missing\n"]
    parts += [_said(w, runs[w.name]) for w in whom]
    return "\n".join(parts)


def _head(made: Made) -> str:
    want = ", ".join(f"{n} ({HEADS[s]})" for s, n in made.wanted.items())
    return f"""# ReelDB and other systems

Written by `python -m benchmarks.peers`: {made.date}, {made.machine}.

One clip of {made.seconds} s with {made.shots} shots, each with one of ten animals, and one fake
model for all: an OpenAI-compatible server on this machine that sees which animal it is and takes
{made.latency_s * 1000:g} ms a call. Every step is a fresh process on what the step before left:

- **index**: until the clip can be asked about. No model is called.
- **first question**: the rows whose caption holds the word `{WORDS["first"]}`. The model writes
  the captions.
- **second question**: the rows whose caption holds the word `{WORDS["second"]}`, about the same
  captions.
- **LIMIT {LIMIT}**: {LIMIT} rows for which the model says yes to a {WANTED}; one row in ten does.
- **LIMIT again**: the same once more.
- **killed**: in a folder of its own, the first question is killed when half its calls were made,
  then asked again: the calls of both together.
- **disk**: all that the system keeps after `LIMIT again`, blocks on disk, in MB of 1,000,000 bytes.

A row is one picture a second unless the system's line says otherwise. The rows to find are then
{want}. Every row found was
checked against what the clip shows. Seconds are those of the work; what is imported before it is
*start-up* (the process less the work, median of its steps). ReelDB imports as it goes, so most of
its own start-up is in its seconds. The model works on {made.at_once} calls at a time, for whoever
sends as many: *at once* is the most that it saw. Medians of {made.repeats} runs, interleaved; the
smallest and largest in brackets. The server shares the machine with the systems.
"""


def _measured(whom: Sequence[Contestant], runs: dict[str, list[Outcome]]) -> str:
    head = ["system", "version"]
    for step in STEPS:
        head.append(f"{HEADS[step]} (s)")
        if step != "index":
            head.append("calls")
    head += ["rows right / found", "killed", "at once", "disk (MB)", "start-up (s)"]
    rows = [_row(w, runs[w.name], len(head)) for w in whom]
    return f"| {' | '.join(head)} |\n{'|---' * len(head)}|\n" + "\n".join(rows) + "\n"


def _row(who: Contestant, runs: Sequence[Outcome], width: int) -> str:
    good = [o for o in runs if o.steps is not None]
    if not good:
        why = runs[-1].error if runs else "not run"
        cells = [who.name, runs[-1].version if runs else "", f"did not run: {_cell(why)}"]
        return f"| {' | '.join(cells + [''] * (width - len(cells)))} |"
    cells = [who.name, good[-1].version]
    for step in STEPS:
        took = _took(good, step)
        cells.append(_spread([t.seconds for t in took]))
        if step != "index":
            cells.append(f"{_median([t.calls for t in took]):.0f}")
    last = [t for s in STEPS if s != "index" for t in [_took(good, s)[-1]]]
    cells.append(", ".join(f"{t.right}/{t.found}" for t in last))
    cells.append(_killed(good))
    all_ = [t for s in STEPS for t in _took(good, s)]
    cells.append(str(max(t.at_once for t in all_)))
    cells.append(f"{_median([o.disk_bytes for o in good]) / 1e6:.1f}")
    cells.append(f"{_median([t.process_s - t.seconds for t in all_]):.1f}")
    return f"| {' | '.join(cells)} |"


def _killed(runs: Sequence[Outcome]) -> str:
    """Calls of a question that was killed at half, and what it found then if not all is well."""
    killed = [o.killed for o in runs if o.killed is not None]
    if not killed:
        return ""
    last, whole = killed[-1], max(o.steps["first"].found for o in runs if o.steps is not None)
    if last.error:
        return f"{last.calls}, then: {_cell(last.error)}"
    fine = last.found == last.right == whole
    return f"{last.calls}" if fine else f"{last.calls}, {last.right}/{last.found} of {whole} rows"


def _ratios(whom: Sequence[Contestant], runs: dict[str, list[Outcome]]) -> str:
    """Medians over those of ReelDB; where ReelDB's is 0 there is no ratio."""
    base = [o for o in runs.get(REEL, []) if o.steps is not None]
    if not base:
        return f"{REEL} has no good run: no ratios.\n"
    columns: list[tuple[str, Callable[[Sequence[Outcome]], float]]] = []
    for step in STEPS:
        columns.append((f"{HEADS[step]}: work", _getter(step, "seconds")))
        columns.append(("process", _getter(step, "process_s")))
        if step != "index":
            columns.append(("calls", _getter(step, "calls")))
    columns.append(("disk", lambda runs: _median([o.disk_bytes for o in runs])))
    lines = [f"| system | {' | '.join(n for n, _ in columns)} |", "|---" * (len(columns) + 1) + "|"]
    for who in whom:
        good = [o for o in runs[who.name] if o.steps is not None]
        if who.name == REEL or not good:
            continue
        cells = [_times(of(good), of(base)) for _, of in columns]
        lines.append(f"| {who.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _getter(step: str, what: str) -> Callable[[Sequence[Outcome]], float]:
    return lambda runs: _median([getattr(t, what) for t in _took(runs, step)])


def _said(who: Contestant, runs: Sequence[Outcome]) -> str:
    version = next((o.version for o in reversed(runs) if o.version), "")
    packages = f" (`{' '.join(who.packages)}`)" if who.packages else ""
    lines = [f"**{who.name}** {version}{packages}: {who.does}.", ""]
    lines += [f"- {what}." for what in who.cannot]
    lines += [f"- One of {len(runs)} runs failed: {_cell(o.error)}" for o in runs if o.error]
    return "\n".join(lines).rstrip() + "\n"


def _took(runs: Sequence[Outcome], step: str) -> list[Took]:
    return [o.steps[step] for o in runs if o.steps is not None]


def _median(values: Sequence[float]) -> float:
    return float(statistics.median(values))


def _spread(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{_median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def _times(value: float, base: float) -> str:
    if base:
        return f"{value / base:.2f}x"
    return "both 0" if not value else f"{value:.0f}, ReelDB 0"


def _cell(text: str) -> str:
    """Text that stays one cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
