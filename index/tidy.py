"""Keeping ledger tables small while they grow by a few rows at a time.

Every commit leaves a data file, and a manifest that lists all files, so a thousand small
commits would take a thousand times the space of one large one, and every reader would open a
thousand files. So whoever commits merges the small files where they have piled up and cleans
the versions that no statement can be reading any more. Files that have grown large enough are
left alone: what one commit costs does not grow with the table.
"""

from __future__ import annotations

from reeldb.index.store import Store

FILES = 32  # data files of a ledger table, above which the small ones are merged
LARGE_ROWS = 4096  # rows of a file that is left alone until `compact`
STATEMENT_LIMIT_S = 30.0
KEEP_S = 2 * STATEMENT_LIMIT_S  # how long a superseded version stays readable
AT_START = ("captions", "replies")  # a statement reads these before it waits for any model
AT_START_KEEP_S = 2.0


def keep_s(table: str) -> float:
    """How long a superseded version of a table must stay, in seconds."""
    return AT_START_KEEP_S if table in AT_START else KEEP_S


def tidy_ledger(store: Store, table: str) -> bool:
    """Merges and cleans where small files have piled up; the caller holds the lock."""
    files = len(store.fragments(table, store.version(table)))
    if files <= FILES + store.count(table) // LARGE_ROWS:
        return False
    store.merge(table, LARGE_ROWS)
    store.clean(table, keep_s(table))
    return True
