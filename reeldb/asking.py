"""`reel ask` on a terminal: what is looked at as it happens, and evidence that one can copy,
cut out as clips, or lay out on one picture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from reeldb.render import escaped
from reeldb.schema.errors import ArchiveError, BindError
from reeldb.schema.spans import clock

if TYPE_CHECKING:
    from reeldb.database import Database
    from reeldb.query.answer import Answer, Evidence, Step
    from reeldb.query.expected import Expected

SHOWN = ("narrow", "caption", "chat", "see")  # steps that people want to see
LABEL = 34  # characters under a picture of a sheet
WITNESS = 160  # characters of what was seen, beside its place


def place(evidence: Evidence) -> str:
    """Where it is, to be copied: `file.mp4 @ 00:12:31-00:12:40`."""
    start, end = clock(round(evidence.start_s, 3)), clock(round(evidence.end_s, 3))
    return f"{escaped(evidence.video)} @ {start}-{end}"


def answer_text(answer: Answer) -> str:
    """The answer, its evidence a line each, what it cost, and its notes."""
    head = f"{answer.choice.letter}) {answer.answer}" if answer.choice else answer.answer
    lines = [escaped(head, keep="\n")]
    for e in answer.evidence:
        lines.append(f"  {place(e)}" + (f"  {escaped(_cut(e.text, WITNESS))}" if e.text else ""))
    made = f"captions {answer.captions_made} made, {answer.captions_reused} reused"
    tail = f"{answer.status}; {answer.strategy} with {answer.reasoner}; {made}; "
    tail += f"{answer.calls} calls; {answer.seconds:.1f} s"
    lines.append(f"({tail}; id {answer.id})")
    return "\n".join([*lines, *(f"note: {escaped(n)}" for n in answer.notes)])


class Lookout:
    """Prints a line for each look as it ends, on a terminal only."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    def show(self, step: Step) -> None:
        if step.operator in SHOWN and self._stream.isatty():
            print(escaped(look(step)), file=self._stream, flush=True)


def look(step: Step) -> str:
    """What one operator looked at: how many pictures, from when to when, made and reused."""
    at = step.inputs.get("at") or step.outputs.get("at")
    where = ""
    if isinstance(at, list) and at:
        first, last = at[0], at[-1]
        videos = len({video for video, _ in at})
        name = str(first[0]) if videos == 1 else f"{videos} videos"
        where = f" of {name}, {clock(first[1])} to {clock(last[1])}"
    what = {"caption": "looks at", "see": "shows", "chat": "asks", "narrow": "finds"}[step.operator]
    count = step.inputs.get("pictures") or step.outputs.get("pictures") or 0
    things = f" {count} pictures{where}" if count else ""
    role = f" the {step.inputs['role']}" if "role" in step.inputs else ""
    return f"{what}{role}{things} ({step.made} made, {step.reused} reused, {step.seconds:.1f} s)"


def confirm(expected: Expected) -> bool:
    """Asks before a question that may cost much; off a terminal it goes on."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    print(f"{expected}. Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def write_clips(db: Database, answer: Answer, folder: Path) -> list[Path]:
    """Cuts each span of the evidence out as an MP4 of its own, named by video and time; gives
    the files. They are re-encoded, for a copied stream can begin at a keyframe only."""
    from reeldb.media.clip import cut_clip

    folder.mkdir(parents=True, exist_ok=True)
    files = _files(db)
    out = []
    for number, e in enumerate(answer.evidence, 1):
        path, fps = files[e.video_id]
        when = clock(round(e.start_s)).replace(":", "-")
        name = f"{number}_{Path(e.video).stem}_{when}.mp4"
        out.append(cut_clip(path, e.start_s, e.end_s, folder / name, fps))
    return out


def write_evidence_sheet(db: Database, answer: Answer, out: Path) -> Path:
    """Writes a PNG of the evidence, each span by its middle picture with video, time and text.

    Raises BindError where there is no evidence to show.
    """
    from reeldb.media.pictures import pictures_at
    from reeldb.media.sheet import contact_sheet, encode_png

    if not answer.evidence:
        raise BindError("the answer has no evidence to lay out")
    if out.suffix.lower() != ".png":
        raise ArchiveError(f"{out}: a contact sheet is a PNG; name it ….png")
    files = _files(db)
    cells = []
    for e in answer.evidence:
        path, _ = files[e.video_id]
        [image] = pictures_at(path, [(e.start_s + e.end_s) / 2], max_side=480)
        cells.append((image, _cut(f"{clock(round(e.start_s))} {e.text or e.video}", LABEL)))
    out.write_bytes(encode_png(contact_sheet(cells)))
    return out


def _cut(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 3] + "..."


def _files(db: Database) -> dict[str, tuple[str, float]]:
    """Path and pictures a second of each video, by id."""
    rows = db.sql("SELECT video_id, path, fps FROM videos").fetchall()
    return {v: (str(path), float(fps or 25)) for v, path, fps in rows}
