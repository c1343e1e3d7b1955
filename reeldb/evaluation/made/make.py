"""`reel eval make`: a benchmark folder from a seed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from reeldb import __version__
from reeldb.evaluation.benchmark import EVENTS, QUESTIONS, VIDEOS, Question, write_lines
from reeldb.evaluation.made.questions import KINDS, write_questions
from reeldb.evaluation.made.script import SHORTEST_S, Script, blank
from reeldb.evaluation.made.video import FPS, SIZE, write_video
from reeldb.evaluation.timecode import LONGEST_S
from reeldb.evaluation.timecode import VIDEOS as MOST_VIDEOS
from reeldb.schema.errors import EvaluationError

README, _TITLE = "README.md", "# A made benchmark"
Told = Callable[[str, int, int], None]  # what, how many are done, of how many


def make(
    folder: Path,
    *,
    videos: int = 3,
    minutes: float = 10.0,
    questions: int = 10,
    seed: int = 0,
    told: Told | None = None,
) -> list[Question]:
    """Writes `videos` of `minutes` each with up to `questions` about each; the same arguments
    give the same questions, events and pictures.

    Raises EvaluationError where the folder holds another benchmark, a number makes no sense, or
    a video is too short for its questions.
    """
    seconds = _checked(folder, videos, minutes, questions)
    (folder / VIDEOS).mkdir(parents=True, exist_ok=True)
    asked: list[Question] = []
    events = []
    for number in range(videos):
        name = f"v{number:03d}.mp4"
        script, found = written(name, seconds, questions, seed)
        if len(found) < questions:
            raise EvaluationError(
                f"{minutes:g} minutes have room for {len(found)} of {questions} questions; "
                "make the videos longer, or ask less"
            )
        asked += found
        events += [fact.row(name, number) for fact in script.facts()]
        write_video(folder / VIDEOS / name, script, number)
        if told is not None:
            told("videos", number + 1, videos)
    write_lines(folder / EVENTS, events)
    write_lines(folder / QUESTIONS, [_row(q) for q in asked])
    about = _ABOUT.format(
        version=__version__, videos=videos, minutes=minutes, questions=len(asked),
        seed=seed, width=SIZE[0], height=SIZE[1], fps=FPS, kinds=", ".join(KINDS),
    )  # fmt: skip
    (folder / README).write_text(about, "utf-8")
    return asked


def seed_of(folder: Path) -> str:
    """The seed that a made benchmark was made from; empty for any other folder."""
    file = folder / README
    text = file.read_text("utf-8", errors="replace") if file.is_file() else ""
    found = re.search(r"\bseed (-?\d+)\.", text) if text.startswith(_TITLE) else None
    return found[1] if found else ""


def written(name: str, seconds: int, questions: int, seed: int) -> tuple[Script, list[Question]]:
    """The script of one video with what its questions need in it, and the questions."""
    script = blank(seconds, f"{seed} {name}")
    return script, list(write_questions(script, name, questions))


def _row(question: Question) -> dict[str, object]:
    """A line of questions.jsonl: what a made question has."""
    return {k: v for k, v in asdict(question).items() if v not in (None, {})}


def _checked(folder: Path, videos: int, minutes: float, questions: int) -> int:
    """The length of a video in seconds."""
    if not 1 <= videos <= MOST_VIDEOS:
        raise EvaluationError(f"{videos} videos: make 1 to {MOST_VIDEOS}")
    seconds = round(minutes * 60)
    if not SHORTEST_S <= seconds <= LONGEST_S:
        raise EvaluationError(
            f"{minutes:g} minutes: a made video has {SHORTEST_S / 60:.2f} to "
            f"{LONGEST_S / 60:.0f} minutes"
        )
    if questions < 0:
        raise EvaluationError(f"{questions} questions a video: give none or more")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise EvaluationError(f"{folder} is there already and not empty; name a new folder")
    return seconds


_ABOUT = (
    f"{_TITLE}\n"
    + """
Made by reeldb {version}: {videos} videos of {minutes:g} minutes ({width}x{height}, {fps} pictures a
second), {questions} questions, seed {seed}. The same arguments make the same questions and events.

- `videos/`: drawn scenes with hard cuts, characters, signs and actions. The strip over the top
  edge is a time code (video number, milliseconds) that a program can read.
- `questions.jsonl`: kinds {kinds}; the choices, the answer, the spans in seconds that it rests
  on, and `asks`, the question in machine form.
- `events.jsonl`: everything that is visible, by video and time.

Nothing in it is real, so it measures whether the right moments are found and put together, not
whether a model understands pictures of the world.
"""
)
