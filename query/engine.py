"""`Engine`: one archive, its models and the SET values of a connection; it runs statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from reeldb.index.archive import Archive
from reeldb.index.ledger import Ledger, now
from reeldb.index.session import Session
from reeldb.models.registry import Models
from reeldb.query.budget import Limits
from reeldb.query.fillers.base import RETRY_AFTER_S
from reeldb.query.params import Parameters
from reeldb.query.pictures import Listener, Opener, open_video, read_sound
from reeldb.query.recent import Recent
from reeldb.query.result import Result
from reeldb.query.variables import Variables

if TYPE_CHECKING:
    from reeldb.query.ask import Confirm
    from reeldb.query.operators.trace import Watch
    from reeldb.query.prepare import Planned

KEPT_SESSIONS = 2
KEPT_PLANS = 64


class Engine:
    """Safe to use from several threads; each statement has a DuckDB connection of its own."""

    def __init__(
        self,
        archive: Archive,
        models: Models,
        opener: Opener = open_video,
        listener: Listener = read_sound,
    ) -> None:
        self.archive, self.models = archive, models
        self.opener, self.listener = opener, listener
        self.variables = Variables()
        self.clock = now  # when a statement starts: tests move it
        self.retry_after_s = RETRY_AFTER_S
        self.text_vectors: dict[str, object] = {}  # texts embedded by this process, by digest
        self.plans: Recent[Planned] = Recent(KEPT_PLANS)
        self._idle: list[Session] = []
        self._lock = Lock()

    def sql(
        self,
        statement: str,
        parameters: Parameters = (),
        *,
        budget: Mapping[str, float] | None = None,
        cached: bool = False,
        watch: Watch | None = None,
        confirm: Confirm | None = None,
    ) -> Result:
        """Runs one statement. `budget` stands in for a BUDGET clause; `cached` computes nothing;
        `watch` and `confirm` are those of `query.ask.ask`."""
        from reeldb.query.run import run

        limits = None if budget is None else Limits.of(budget)
        return run(self, statement, parameters, limits=limits, cached=cached,
                   watch=watch, confirm=confirm)  # fmt: skip

    def columns(self, statement: str, parameters: Parameters = ()) -> list[str]:
        """The names of the columns that a SELECT gives, without running it."""
        from reeldb.query.prepare import columns_of

        return columns_of(self, statement, parameters)

    def ledger(self) -> Ledger:
        """Where what models say is kept."""
        return Ledger(self.archive)

    def has_vectors(self) -> bool:
        """Whether the archive holds vectors of the embedder in use."""
        if self.models.address("embedder") is None:
            return False
        return self.models.embedder().space in self.archive.snapshot().spaces()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A DuckDB connection for one statement."""
        with self._lock:
            session = self._idle.pop() if self._idle else Session()
        try:
            yield session
        finally:
            with self._lock:
                keep = len(self._idle) < KEPT_SESSIONS
                if keep:
                    self._idle.append(session)
            if not keep:
                session.close()

    def close(self) -> None:
        with self._lock:
            for session in self._idle:
                session.close()
            self._idle.clear()
            self.text_vectors.clear()
