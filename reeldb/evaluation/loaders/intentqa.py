"""IntentQA (Li et al. 2023): NExT-QA's columns and three of its own; the answer is a number.

Written from `datasets/IntentQA/val.csv` of JoseponLee/IntentQA at 91123039.
"""

from __future__ import annotations

from pathlib import Path

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders.nextqa import read as read_nextqa


def read(file: Path) -> list[Question]:
    """A question a row; `more` has the intent's action and lemma."""
    return read_nextqa(file)
