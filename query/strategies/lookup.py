"""`lookup`: a question that is really one over tables, answered by a SELECT that a model writes.

The SELECT is shown, and runs through the ordinary planner: captions and readings that it needs
are made within the budget, and nothing that SQL could not do can be done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from reeldb.query.answer import Evidence
from reeldb.query.operators.replies import UNPAID, Form, Request
from reeldb.query.prompts import Prompt
from reeldb.query.prompts.asking import REPAIR, asked, quoted
from reeldb.query.reasoners.loose_json import loose_json
from reeldb.query.strategies.options import count
from reeldb.query.strategies.plan import Line, Shape
from reeldb.query.strategies.verdict import EVIDENCE, Verdict
from reeldb.schema.errors import BindError, ReelError
from reeldb.schema.relations import RELATIONS

if TYPE_CHECKING:
    from reeldb.query.reasoners import Reasoner
    from reeldb.query.result import Result
    from reeldb.query.task import Task

SCHEMA = (
    '{"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"], '
    '"additionalProperties": false}'
)
FORM = 'Reply with JSON only: {"sql": one SELECT statement}'
TABLES = ("videos", "scenes", "frames", "ocr", "speech", "objects", "actions", "captions")
WRITE = Prompt(
    "lookup",
    1,
    "Write one SELECT, in DuckDB's dialect, that answers the question from the tables below. "
    "Times are seconds. scenes.caption and frames.caption are texts that say what is seen, "
    "scenes.ocr_text what is written on screen, scenes.speech_text what is said; ILIKE "
    "'%word%' searches them. matches(caption, 'statement') is TRUE where a model judges that the "
    "statement holds. Reading these columns costs calls: narrow by times and videos first. Where "
    "rows are asked for, give video_id, video, start_s and end_s among the columns.",
)


def sql_form() -> Form[str]:
    return Form(SCHEMA, read_sql, REPAIR + FORM)


def read_sql(text: str) -> str | None:
    value = loose_json(text)
    said = value.get("sql") if isinstance(value, dict) else None
    return said.strip().rstrip(";").strip() or None if isinstance(said, str) else None


@dataclass(frozen=True, slots=True)
class Lookup:
    """`tries` statements are written at most: each that cannot run is told why. `rows` of the
    result are told in the answer."""

    tries: int = 3
    rows: int = 20

    name: ClassVar[str] = "lookup"

    def __post_init__(self) -> None:
        count("lookup", "tries", self.tries, 1, 10)
        count("lookup", "rows", self.rows, 1, 1000)

    def plan(self, shape: Shape) -> list[Line]:
        return [
            Line("write", calls=self.tries * shape.chat, about="a SELECT"),
            Line("select", shape.scenes, shape.scenes * shape.chat, "what the SELECT reads",
                 kind="clip"),
        ]  # fmt: skip

    def answer(self, task: Task, reasoner: Reasoner) -> Verdict:
        if not task.cast.has("root"):
            raise BindError(
                "lookup writes a SELECT with a chat model and none is set; name one: reel models "
                "set chat ADDRESS, or write the SELECT yourself: reel sql"
            )
        found = self._found(task)
        if isinstance(found, Verdict):
            return found
        statement, result = found
        rows = result.fetchall()
        task.note(f"answered by: {statement}")
        for note in result.notes:
            task.note(note)
        task.partial |= result.status == "partial"
        return Verdict(
            told(result.columns, rows, self.rows), None, None,
            spans(task, result.columns, rows)[:EVIDENCE],
        )  # fmt: skip

    def _found(self, task: Task) -> tuple[str, Result] | Verdict:
        """The statement that ran, and what it gave."""
        text = "\n".join(
            [WRITE.text, quoted("tables", tables()), asked(task.question, task.choices), FORM]
        )
        request = Request(text)
        for _ in range(self.tries):
            [heard] = task.ask("root", [request], sql_form())
            if heard.value is None:
                unpaid = heard.status == UNPAID
                return Verdict("", None, None, (), "partial" if unpaid else "unparsed")
            try:
                return heard.value, task.select(heard.value)
            except ReelError as error:
                task.note(f"the SELECT {heard.value!r} could not run: {error}")
                why = quoted("error", str(error))
                request = request.again(heard.text, f"It cannot run.\n{why}\n{FORM}")
        return Verdict("", None, None, (), "failed")


def tables() -> str:
    """The relations and their columns, a line each."""
    lines = []
    for name in TABLES:
        relation = RELATIONS[name]
        columns = ", ".join(
            f"{c.name} {c.type}" for c in relation.columns if c.kind in ("stored", "lazy")
        )
        lines.append(f"{name} ({relation.about}): {columns}")
    return "\n".join(lines)


def told(columns: Sequence[str], rows: Sequence[Sequence[object]], most: int) -> str:
    """A single value as such, else the first rows a line each, and how many there are.

    >>> told(["n"], [(3,)], 5), told(["n"], [], 5)
    ('3', 'none')
    """
    if len(rows) == 1 and len(columns) == 1:
        return str(rows[0][0])
    if not rows:
        return "none"
    keep = [i for i, c in enumerate(columns) if c != "video_id"]
    lines = [", ".join(f"{columns[i]} {row[i]}" for i in keep) for row in rows[:most]]
    more = f"; {len(rows) - most} more" if len(rows) > most else ""
    return "\n".join([f"{len(rows)} rows{more}", *lines])


def spans(
    task: Task, columns: Sequence[str], rows: Sequence[Sequence[object]]
) -> tuple[Evidence, ...]:
    """The rows that are spans or moments of videos."""
    at = {c: i for i, c in enumerate(columns)}
    start = at.get("start_s", at.get("t_s"))
    if "video_id" not in at or start is None:
        return ()
    names = task.work.catalog.snapshot.videos
    known = dict(zip(names["video_id"].to_pylist(), names["name"].to_pylist(), strict=True))
    out = []
    for row in rows:
        video_id, start_s = str(row[at["video_id"]]), row[start]
        if video_id in known and isinstance(start_s, int | float):
            end_s = row[at["end_s"]] if "end_s" in at else start_s
            end = float(end_s) if isinstance(end_s, int | float) else float(start_s)
            end = max(end, float(start_s) + 0.001)
            out.append(Evidence(str(known[video_id]), video_id, float(start_s), end))
    return tuple(out)
