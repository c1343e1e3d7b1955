"""`reel shell`: a prompt on one archive, with history and completion."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from reeldb.asking import Lookout, confirm
from reeldb.render import escaped, table
from reeldb.schema.counts import counted
from reeldb.schema.errors import ReelError
from reeldb.schema.relations import RELATIONS
from reeldb.script import open_quote, statements

if TYPE_CHECKING:
    from reeldb.database import Database
    from reeldb.query.result import Result

HELP = """A statement ends with ; (or an empty line) and may take several lines.
SHOW TABLES; DESCRIBE scenes; SET captions = 'cached'; EXPLAIN SELECT ...; ASK '...';
Tab completes, the arrow keys recall, Ctrl-C stops a statement, Ctrl-D or exit leaves."""
LEAVE = {"exit", "quit", "\\q", ".exit", ".quit"}
WORDS = (
    "SELECT FROM WHERE GROUP BY ORDER BY HAVING QUALIFY LIMIT OFFSET JOIN LEFT JOIN ON USING WITH "
    "AS AND OR NOT IN IS NULL LIKE ILIKE BETWEEN EXISTS DISTINCT UNION ALL EXCEPT INTERSECT CASE "
    "WHEN THEN ELSE END DESC BUDGET CAPTIONS CALLS SECONDS TOKENS ASK CHOICES EXPLAIN ANALYZE SHOW "
    "TABLES DESCRIBE SET similarity( matches( describe( bm25( before( after( overlaps( during( "
    "within( caption_status( count( sum( avg( min( max("
)


class ReelCompleter(Completer):
    """Completes words of the language, relations, columns, and the names of videos."""

    def __init__(self, videos: Iterable[str]) -> None:
        columns = {c.name for r in RELATIONS.values() for c in r.columns}
        self._words = sorted({*WORDS.split(), *RELATIONS, *columns})
        self._videos = sorted(set(videos))

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        quote = open_quote(before)
        if quote is not None:
            start = before[quote + 1 :]
            mark = before[quote]
            for name in self._videos:
                quoted = name.replace(mark, mark * 2)
                if quoted.lower().startswith(start.lower()) and name.isprintable():
                    yield Completion(quoted + mark, -len(start), display=name)
            return
        word = document.get_word_before_cursor()
        if word and (word[0].isalpha() or word[0] == "_"):
            for known in self._words:
                if known.lower().startswith(word.lower()):
                    yield Completion(known, -len(word))


def is_whole(text: str) -> bool:
    """Whether Enter should run the text: a semicolon ends it outside quotes, so does an empty
    line, and words such as `exit` stand alone."""
    stripped = text.strip()
    if not stripped or stripped.lower() in {*LEAVE, "help", "?"}:
        return True
    return (stripped.endswith(";") and open_quote(stripped) is None) or text.endswith("\n")


def shell(db: Database) -> None:
    """Reads and runs statements until the end of input. Prints; errors keep the shell."""
    if not sys.stdin.isatty():
        for statement in statements(sys.stdin.read()):
            _run(db, statement)
        return
    videos = [str(name) for (name,) in db.sql("SELECT video FROM videos").fetchall()]
    prompt = _prompt(videos)
    print(f"{db.path}: {counted(len(videos), 'video')}. Type help, or a statement.")
    while True:
        try:
            text = prompt.prompt("reel> ").strip()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if text.lower() in LEAVE:
            return
        if text.lower() in ("help", "?"):
            print(HELP)
        elif text:
            for statement in statements(text):
                _run(db, statement)


def _prompt(videos: Iterable[str]) -> PromptSession[str]:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None
        elif is_whole(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return PromptSession(
        multiline=True,
        history=_history(),
        completer=ReelCompleter(videos),
        complete_while_typing=False,
        key_bindings=keys,
        prompt_continuation="  ...> ",
    )


def _history() -> History:
    """What was typed before, in the user's own state folder; in memory where it has none."""
    home = os.environ.get("XDG_STATE_HOME")
    place = (Path(home) if home else Path.home() / ".local" / "state") / "reeldb"
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place / "history").touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(place / "history"))


def _run(db: Database, statement: str) -> None:
    try:
        show(db.sql(statement, watch=Lookout().show, confirm=confirm))
    except ReelError as error:
        print(f"error: {escaped(str(error))}")
    except KeyboardInterrupt:
        print("stopped; what was paid for is kept")


def show(result: Result) -> None:
    """Prints a result as people read it: rows, then what is worth knowing about them."""
    rows = result.fetchall()
    print(table(result.columns, rows))
    tail = counted(len(rows), "row")
    if result.status != "complete":
        tail += f", {result.status}"
    made = result.stats.get("captions_made", 0)
    print(f"({tail}{f', {made} captions made' if made else ''})")
    for note in result.notes:
        print(f"note: {escaped(note)}")
