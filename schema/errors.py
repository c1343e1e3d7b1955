"""Every error that ReelDB raises on purpose, one subclass per phase.

```text
ReelError
├── SchemaError      an archive of another format, a column or type that does not fit
├── ArchiveError     no archive there, locked, read-only, disk full, damaged
│   └── VersionGone  a version that a reader held was cleaned away meanwhile: read again
├── MediaError       a file that cannot be opened, read or decoded
├── IngestError      a file or setting that cannot be added
├── ParseError       a statement that is not part of the language
├── BindError        a name or type that the archive does not have
├── PlanError        a statement that cannot be planned
├── ExecuteError     a statement that failed or was stopped while it ran
│   └── TimeoutExceeded
├── ModelError       a model that is missing, broken or answered nonsense
├── BudgetError      a budget that is not a budget
└── EvaluationError  a benchmark that cannot be made, read or run
```

A message names the offender, what was possible, and the cure. Only the command line prints
or exits; libraries raise. Anything that is not a `ReelError` is a bug and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ReelError(Exception):
    """The base of all errors that ReelDB raises on purpose."""


class SchemaError(ReelError, ValueError):
    """The archive or a table has another format than this program can read."""


class ArchiveError(ReelError):
    """The archive is missing, locked, read-only, full or damaged."""


class VersionGone(ArchiveError):
    """The version of a table that a snapshot names was cleaned away; a fresh one has the rows."""


class MediaError(ReelError):
    """A file cannot be opened, read or decoded."""


class IngestError(ReelError):
    """A file or a setting cannot be added."""


class ParseError(ReelError, ValueError):
    """The statement is not part of the language."""


class BindError(ReelError, ValueError):
    """A name or a type does not exist in the archive."""


class PlanError(ReelError):
    """The statement cannot be planned."""


class ExecuteError(ReelError):
    """The statement failed, or was stopped, while it ran."""


class TimeoutExceeded(ExecuteError):
    """The statement used up its time limit."""


class ModelError(ReelError):
    """A model is missing or did not work."""


class BudgetError(ReelError, ValueError):
    """The text of a budget is not a budget."""


class EvaluationError(ReelError, ValueError):
    """A benchmark cannot be made, read or run."""


MOST_KNOWN = 40  # names in one message


def shown(name: str) -> str:
    """A name as a message can hold it: on one line, and nothing invisible in it.

    >>> shown("kitchen 2.mp4"), shown("two\\nlines.mp4")
    ('kitchen 2.mp4', "'two\\\\nlines.mp4'")
    """
    return name if name.isprintable() else repr(name)


def near(name: str, known: Iterable[str]) -> str:
    """The end of an error message: the likeliest meant names, else the known ones.

    >>> near("sceness", ["scenes", "frames"])
    'did you mean scenes?'
    >>> near("x", ["scenes", "frames"])
    'known: frames, scenes'
    """
    names = sorted(set(known))
    lowered = {n.lower(): n for n in names}
    close = get_close_matches(name.lower(), lowered, 3)
    if close:
        return f"did you mean {', '.join(shown(lowered[c]) for c in close)}?"
    more = f" and {len(names) - MOST_KNOWN} more" if len(names) > MOST_KNOWN else ""
    return f"known: {', '.join(map(shown, names[:MOST_KNOWN]))}{more}"
