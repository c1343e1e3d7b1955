"""Many captions in a flow: the next request goes out whenever one is answered.

```text
rows --claimed, a batch at a time--> pictures decoded --> in flight --> written, half a batch
                                                                        at a time --> freed
```

Nothing waits for the slowest of a batch, pictures are read while others are in flight, and
what has come back is written meanwhile. Requests that are sent and not yet written are never
more than a batch and a half, so that is the most that killing the process loses. A model that
works on whole batches has the next one read ahead, which costs no call.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from threading import Condition, Lock
from typing import TYPE_CHECKING

from reeldb.index.store import chunks
from reeldb.schema.models import CaptionRequest, Reply, Streaming

if TYPE_CHECKING:
    from reeldb.query.fillers.captions import Captions

LINGER_S = 0.5  # a reply waits no longer than this for others to be written with
STEP_S = 0.2


class Claim:
    """Keys that this statement computes, until all of them are written."""

    def __init__(self, held: AbstractContextManager[set[str]]) -> None:
        self._held = held
        self.keys = held.__enter__()
        self.left = 0

    def free(self) -> None:
        self._held.__exit__(None, None, None)


class Flow:
    """One pass over the rows; those that others are computing are left in `others`.

    `_requests` is advanced by the threads that send, one at a time; the rest runs in the
    caller's thread.
    """

    def __init__(self, captions: Captions, rows: Sequence[int]) -> None:
        self.captions, self.work, self.rows = captions, captions.work, rows
        self.others: list[int] = []
        self.twins: list[int] = []  # rows of an address that another row here asks for
        self._claim_of: dict[int, Claim] = {}  # of rows that are not written yet
        self._asked: list[int] = []
        self._closed = False
        self._guard = Lock()
        self._reading = Lock()  # held while pictures are decoded
        self._room = Condition(self._guard)
        self._most = captions.size + self._group
        self._out = 0  # requests that are out and not yet written
        self._since = time.monotonic()  # from when on seconds are not yet charged

    @property
    def _group(self) -> int:
        return max(1, self.captions.size // 2)

    def run(self, model: Streaming) -> None:
        """Sends, and writes what comes back. Raises what the model raises, after writing."""
        gathered: list[tuple[int, Reply]] = []
        oldest = 0.0
        self._most += model.ahead
        try:
            for place, reply in model.stream(self._requests()):
                oldest = oldest if gathered else time.monotonic()
                gathered.append((self._asked[place], reply))
                if len(gathered) >= self._group or time.monotonic() - oldest > LINGER_S:
                    self._write(gathered)
                    gathered = []
        finally:
            try:
                if gathered:
                    self._write(gathered)
            finally:
                self._close()

    def _requests(self) -> Iterator[CaptionRequest]:
        self._since = time.monotonic()
        for chunk in chunks(self.rows, self.captions.size):
            granted, ended = self._begin(chunk)
            for row in granted:
                with self._reading:
                    if self._closed:
                        return
                    request = self.captions.request(row)
                if request is None:
                    self._written([row], sent=False)
                    continue
                if not self._wait_for_room():
                    return
                self._asked.append(row)
                yield request
            if ended:
                return

    def _begin(self, chunk: Sequence[int]) -> tuple[list[int], bool]:
        """Claims the rows and debits the budget: the rows to ask for, and whether it ended."""
        captions = self.captions
        with self._guard:
            if self._closed:
                return [], True
            claim = Claim(self.work.ledger.flights.claim(captions.key(r) for r in chunk))
            claim.left = 1  # this look at them
            self._claim_of[-1] = claim
        own = [r for r in chunk if captions.key(r) in claim.keys]
        self.others += [r for r in chunk if captions.key(r) not in claim.keys]
        own = captions.learn_kept(own, self.work.since) if own else []
        first = list({captions.key(r): r for r in reversed(own)}.values())[::-1]
        self.twins += [r for r in own if r not in first]
        granted = first[: self.work.budget.take("captions", len(first))] if first else []
        with self._guard:
            claim.left += len(granted)
            self._claim_of |= dict.fromkeys(granted, claim)
        self._written([-1], sent=False)
        return granted, len(granted) < len(first)

    def _wait_for_room(self) -> bool:
        """Until another request may be out; False where nothing more is wanted."""
        with self._room:
            while self._out >= self._most and not self._closed:
                self._room.wait(STEP_S)
            self._out += 1
            return not self._closed

    def _write(self, gathered: Sequence[tuple[int, Reply]]) -> None:
        """Keeps replies; their seconds are those in which this model was waited for."""
        now = time.monotonic()
        seconds, self._since = now - self._since, now
        rows = [row for row, _ in gathered]
        self.captions.keep(rows, [reply for _, reply in gathered], seconds)
        self._written(rows, sent=True)

    def _written(self, rows: Sequence[int], sent: bool) -> None:
        """Frees the claims that are done with."""
        with self._room:
            for row in rows:
                claim = self._claim_of.pop(row, None)
                if claim is not None:
                    claim.left -= 1
                    if not claim.left:
                        claim.free()
            if sent:
                self._out -= len(rows)
                self._room.notify_all()

    def _close(self) -> None:
        """Frees what is left, and lets no thread that is still running claim or decode more:
        the files that it reads are about to be closed."""
        with self._room:
            self._closed = True
            for claim in set(self._claim_of.values()):
                claim.free()
            self._claim_of.clear()
            self._room.notify_all()
        with self._reading:
            pass


def flow(captions: Captions, rows: Sequence[int], model: Streaming) -> None:
    """Makes the captions of these rows, as far as the budget goes, each address once among all
    threads and processes."""
    work = captions.work
    while rows:
        one = Flow(captions, rows)
        one.run(model)
        if one.twins:
            captions.learn_kept(one.twins, work.since)
        for row in one.others:
            work.ledger.flights.wait(captions.key(row))
        rows = captions.learn_kept(one.others, work.since) if one.others else []
