"""Fillers: how each kind of lazy value is remembered or made, one file each.

A filler answers two questions for row numbers of a relation: which values are known without
a call (`recall`), and what do the next few cost (`make`, which debits the budget before every
call and writes to the ledger as each batch returns).
"""

from reeldb.query.fillers.base import Batch, Filler

__all__ = ["Batch", "Filler"]
