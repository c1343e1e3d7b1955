"""ReelDB: a video index with a query language.

```text
 a video file                                      "SELECT ... WHERE ..."  or  ASK '...'
     |                                                              |
 INGEST  probe -> decode once -> scenes, pictures       QUERY  parse -> bind -> plan -> run
     |            -> embeddings                                     |
 --------------------------------------------------------------------------------------
 INDEX   the archive (Lance), SQL (DuckDB)   MEDIA  pictures by time   MODELS  adapters
 --------------------------------------------------------------------------------------
 SCHEMA  Arrow schemas, spans, errors, protocols
```

Imports point down only. `reeldb.open(path)` gives a `Database`; everything else follows from
it. Importing this package imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reeldb.database import Database, open
    from reeldb.schema.errors import ReelError
    from reeldb.schema.settings import Settings

__version__ = "0.1.0"
__all__ = ["Database", "ReelError", "Settings", "open"]
_HOME = {
    "Database": "reeldb.database",
    "open": "reeldb.database",
    "ReelError": "reeldb.schema.errors",
    "Settings": "reeldb.schema.settings",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when first used: `reel --help` must not wait for pyarrow."""
    if name not in _HOME:
        raise AttributeError(f"module 'reeldb' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
