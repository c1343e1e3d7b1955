"""The markdown page of a comparison, from what every run gave."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
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
bytes. Pairs are *work / whole process with its start-up*.
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
    fewest: int  # calls after which LIMIT is met, one by one in the order of time
    wanted: dict[str, int] = field(default_factory=dict)  # rows a step should find, by step


def page(made: Made, whom: Sequence[Contestant], outcomes: Sequence[Outcome]) -> str:
    """The whole page; a contestant without a good run gets its error for a row."""
    runs = {w.name: [o for o in outcomes if o.name == w.name] for w in whom}
    good = {n: [o for o in all_ if o.steps is not None] for n, all_ in runs.items()}
    parts = [
        _head(made),
        f"## Seconds and bytes\n\n{_table(_SECONDS, whom, good)}",
        f"## Calls of the model, and rows\n\n{_table(_CALLS, whom, good)}",
        f"## Set against {REEL}\n\n{OVER}\n{_ratios(whom, good)}",
        "## How each did it, and what was seen to be missing\n",
        *(_said(w, runs[w.name], made) for w in whom),
    ]
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
  Who asks in the order of time, one by one, has them after {made.fewest} calls.
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


Runs = Sequence[Outcome]
Column = tuple[str, Callable[[Runs], str]]


def _seconds(step: str) -> Callable[[Runs], str]:
    return lambda runs: _spread([t.seconds for t in _took(runs, step)])


def _calls(step: str) -> Callable[[Runs], str]:
    return lambda runs: f"{_median([t.calls for t in _took(runs, step)]):.0f}"


def _start_up(runs: Runs) -> str:
    return f"{_median([t.process_s - t.seconds for s in STEPS for t in _took(runs, s)]):.1f}"


def _rows(runs: Runs) -> str:
    """Right and found of every step but the index, in order."""
    last = [_took(runs, s)[-1] for s in STEPS if s != "index"]
    return ", ".join(f"{t.right}/{t.found}" for t in last)


def _disk(runs: Runs) -> str:
    return f"{_median([o.disk_bytes for o in runs]) / 1e6:.1f}"


def _table(columns: Sequence[Column], whom: Sequence[Contestant], good: Mapping[str, Runs]) -> str:
    """A row for each contestant that ran."""
    rows = [[w.name, *(of(good[w.name]) for _, of in columns)] for w in whom if good[w.name]] + [
        [w.name, "did not run: see below"] for w in whom if not good[w.name]
    ]
    lines = [["system", *(name for name, _ in columns)], ["---"] * (len(columns) + 1)]
    lines += [row + [""] * (len(columns) + 1 - len(row)) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _killed(runs: Runs) -> str:
    """Calls of a question that was killed at half, and what it found then if not all is well."""
    killed = [o.killed for o in runs if o.killed is not None]
    if not killed:
        return ""
    last, whole = killed[-1], max(o.steps["first"].found for o in runs if o.steps is not None)
    if last.error:
        return f"{last.calls}, then: {_cell(last.error)}"
    fine = last.found == last.right == whole
    return f"{last.calls}" if fine else f"{last.calls}, {last.right}/{last.found} of {whole} rows"


_SECONDS: Sequence[Column] = [
    ("version", lambda runs: runs[-1].version),
    *((HEADS[s], _seconds(s)) for s in STEPS),
    ("start-up", _start_up),
    ("disk (MB)", _disk),
]
_CALLS: Sequence[Column] = [
    *((HEADS[s], _calls(s)) for s in STEPS if s != "index"),
    ("killed", _killed),
    ("at once", lambda runs: str(max(t.at_once for s in STEPS for t in _took(runs, s)))),
    ("rows right / found", _rows),
]


def _ratios(whom: Sequence[Contestant], good: Mapping[str, Runs]) -> str:
    """Medians over those of ReelDB; where ReelDB's is 0 there is no ratio."""
    base = good.get(REEL, [])
    if not base:
        return f"{REEL} has no good run: no ratios.\n"

    def both(step: str) -> Callable[[Runs], str]:
        return lambda runs: " / ".join(
            _times(_of(runs, step, what), _of(base, step, what))
            for what in ("seconds", "process_s")
        )

    def calls(step: str) -> Callable[[Runs], str]:
        return lambda runs: _times(_of(runs, step, "calls"), _of(base, step, "calls"))

    columns: list[Column] = [(HEADS[s], both(s)) for s in STEPS]
    columns += [(f"{HEADS[s]}: calls", calls(s)) for s in STEPS if s != "index"]
    of_disk = _median([o.disk_bytes for o in base])
    columns.append(("disk", lambda runs: _times(_median([o.disk_bytes for o in runs]), of_disk)))
    return _table(columns, [w for w in whom if w.name != REEL and good[w.name]], good)


def _of(runs: Runs, step: str, what: str) -> float:
    return _median([getattr(t, what) for t in _took(runs, step)])


def _said(who: Contestant, runs: Runs, made: Made) -> str:
    version = next((o.version for o in reversed(runs) if o.version), "")
    title = f"**{who.name}** {version}".rstrip()
    packages = f" (`{' '.join(who.packages)}`)" if who.packages else ""
    good = [o for o in runs if o.steps is not None]
    lines = [f"{title}{packages}: {who.does}.", ""]
    lines += [f"- {what}." for what in (*_seen(good, made), *who.seen)]
    errors = [_cell(o.error) for o in runs if o.error]
    if errors:
        lines.append(f"- {len(errors)} of {len(runs)} runs failed: {errors[-1]}")
    elif not runs:
        lines.append("- It was not run")
    return "\n".join(lines).rstrip() + "\n"


def _seen(good: Runs, made: Made) -> list[str]:
    """What the counts say by themselves."""
    if not good:
        return []
    rows, out = _of(good, "index", "found"), []
    whole, limit, again = (_of(good, s, "calls") for s in ("first", "limit", "again"))
    if limit >= rows:
        out.append(f"`LIMIT {LIMIT}` asked the model about all {rows:.0f} rows")
    elif limit > made.fewest + 2 * made.at_once:
        few = f"{limit:.0f} of {rows:.0f} rows, where {made.fewest} do: it stops between batches"
        out.append(f"`LIMIT {LIMIT}` asked the model about {few}")
    if again >= limit:
        out.append("The same question again was paid for again: its replies are not kept")
    for step in STEPS:
        crashes = [t.status for t in _took(good, step) if t.status]
        if crashes:
            how = f"{len(crashes)} of {len(good)} processes ended with status {crashes[-1]}"
            out.append(f"{HEADS[step]}: {how}, after they had given their result")
    killed = next((o.killed for o in good if o.killed is not None), None)
    if killed and not killed.error and killed.calls >= whole + whole // 2:
        out.append("Of a question that was killed at half nothing was kept")
    return out


def _took(runs: Runs, step: str) -> list[Took]:
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
