"""EgoSchema (Mangalam et al. 2023).

Written from egoschema/EgoSchema: `questions.json` at 27288591 (README at 4639b013 for its
`question`) and `subset_answers.json` at c7a639fa, which answers 500 of 5,031 questions.
"""

from __future__ import annotations

from pathlib import Path

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders.rows import Row, json_object, json_rows
from reeldb.schema.errors import EvaluationError

ANSWERS = "subset_answers.json"


def read(file: Path) -> list[Question]:
    """Of a folder with `questions.json` and `subset_answers.json`, the questions that have
    answers; of a file of questions, all of them, with the answers that lie beside it."""
    if file.is_dir():
        answered = [q for q in read(file / "questions.json") if q.answer]
        if not answered:
            raise EvaluationError(f"{file}: no answered question; {ANSWERS} belongs beside it")
        return answered
    beside = file.with_name(ANSWERS)
    answers = json_object(beside) if beside.is_file() else {}
    return [_question(row, answers) for row in json_rows(file)]


def _question(row: Row, answers: dict[str, object]) -> Question:
    uid = row.text("q_uid")
    choices = tuple(row.text(f"option {i}") for i in range(5))
    answer = row.choice(choices, answers[uid]) if uid in answers else ""
    return Question(uid, uid, row.text("question"), answer, choices, duration_s=180.0)
