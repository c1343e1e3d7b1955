"""One request to a model: its turn, its repeats, and the parts that a server refuses."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any

from reeldb.models.openai.endpoint import Endpoint
from reeldb.models.openai.fault import Fault, NoJson
from reeldb.models.openai.server import Server, server_at
from reeldb.schema.counts import counted
from reeldb.schema.errors import ModelError, near
from reeldb.schema.models import UNPAID

if TYPE_CHECKING:
    from openai import APIResponse, OpenAI

    Call = Callable[..., AbstractContextManager[APIResponse[Any]]]

OPTIONAL = ("response_format", "temperature", "seed", "max_tokens", "max_completion_tokens")
FIRST_CONTACT = 2  # attempts where nobody ever answered: then it is the address, not the hour
MOST_BACKOFF_S = 60.0


@dataclass
class Job:
    """One request and its repeats: what it took so far."""

    stop: Event = field(default_factory=Event)
    calls: int = 0
    waited_s: float = 0.0  # in pauses and in attempts that failed


class Caller:
    """One model on one server. Its methods raise `Fault`; `Fault.kind` is then never 'again'.

    `debit` is asked before every call of a job but its first (`schema.models.Metered`).
    """

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        server: Server | None = None,
        debit: Callable[[], bool] | None = None,
    ) -> None:
        self.model = model
        self.endpoint = endpoint
        self._server = server
        self._debit = debit

    @property
    def server(self) -> Server:
        """The server, found when first used. Raises ModelError where the key is missing."""
        if self._server is None:
            end = self.endpoint
            self._server = server_at(end.base_url, end.key(), not end.local)
        return self._server

    def metered(self, debit: Callable[[], bool]) -> Caller:
        return Caller(self.model, self.endpoint, self._server, debit)

    def ask(self, pick: Callable[[OpenAI], Call], body: Mapping[str, Any], job: Job) -> Any:
        """The JSON of `pick(client)(**body)`, without the parts that the server refuses.

        A part it refuses is left out at once from then on, for this model on this server.
        """
        refused: set[str] = set()
        while True:
            sent = self._accepted(body, refused)
            try:
                found = self._repeat(pick, sent, job)
            except Exception as error:
                fault = self._fault(error, sent)
                named = {p for p in fault.parameters if p in sent} - refused
                if fault.kind != "parameter" or not named:
                    raise fault from None
                refused |= named
                continue
            self.server.note_refused(self.model, refused)
            return found

    def error(self, fault: Fault) -> ModelError:
        """The fault as one line with the cure; for a wrong name, with the right ones."""
        if not fault.model:
            return ModelError(f"openai:{self.model}: {fault.note}")
        try:
            known = self.server.models(min(self.endpoint.timeout_s, 10.0))
        except Exception:  # the list is a courtesy: whatever is wrong, the fault is said
            known = []
        hint = near(self.model, known) if known else "name one that the server has"
        hint = hint if len(hint) < 300 else hint[:300] + " ..."
        return ModelError(f"no model {self.model!r} at {self.endpoint.base_url}; {hint}")

    def _accepted(self, body: Mapping[str, Any], refused: set[str]) -> dict[str, Any]:
        out = self.server.refused_by(self.model) | refused
        sent = {k: v for k, v in body.items() if k not in out}
        if "max_tokens" in body and "max_tokens" in out and "max_completion_tokens" not in out:
            # OpenAI's newer models know it by the longer name only.
            sent["max_completion_tokens"] = body["max_tokens"]
        return sent

    def _repeat(self, pick: Callable[[OpenAI], Call], sent: dict[str, Any], job: Job) -> Any:
        """The first attempt that works; a passing trouble is waited out between attempts."""
        attempt = 0
        while True:
            attempt += 1
            self._begin(job)
            began_s = self.server.clock.now()
            try:
                with self.server.slot(self.endpoint.concurrency, job.stop):
                    self._go(job)
                    began_s = self.server.clock.now()
                    job.calls += 1
                    call = pick(self.server.client)
                    return self.server.read(call, self.endpoint.timeout_s, **sent)
            except Exception as error:
                fault = self._fault(error, sent)
                if fault.kind not in ("again", "unreachable"):
                    raise fault from None
                job.waited_s += self.server.clock.now() - began_s
                self._back_off(fault, attempt, job)

    def _begin(self, job: Job) -> None:
        """Waits for the server's pause and rate limit, then pays, if it is not the first call."""
        while (wait_s := self.server.ready_in_s(self.endpoint.requests_per_minute)) > 0:
            self._go(job)
            self.server.clock.wait(wait_s, job.stop)
        if job.calls and self._debit is not None and not self._debit():
            raise Fault("failed", UNPAID)

    def _back_off(self, fault: Fault, attempt: int, job: Job) -> None:
        """Waits before the next attempt. Raises the fault where there is none."""
        end = self.endpoint
        if fault.kind == "unreachable" and not self.server.answered and attempt >= FIRST_CONTACT:
            cure = "is the server running, and base_url right (most end in /v1)?"
            raise Fault("misused", f"{fault.note}; {cure}")
        if attempt >= end.attempts:
            raise Fault("failed", f"{fault.note} ({counted(attempt, 'attempt')})")
        # Jitter: callers that failed together must not come back together.
        pause_s = min(end.backoff_s * 2 ** (attempt - 1), MOST_BACKOFF_S) * random.uniform(0.5, 1)
        asked = f"the server asks to wait {fault.wait_s:.0f} s; " if fault.wait_s else ""
        if fault.wait_s is not None:
            pause_s = fault.wait_s + random.uniform(0, min(0.1 * fault.wait_s, end.backoff_s))
        if job.waited_s + pause_s > end.max_wait_s:
            raise Fault("failed", f"{fault.note}; {asked}max_wait_s is {end.max_wait_s:g}")
        if fault.wait_s is not None:
            self.server.pause(fault.wait_s)
        job.waited_s += pause_s
        self.server.clock.wait(pause_s, job.stop)
        self._go(job)

    def _go(self, job: Job) -> None:
        if job.stop.is_set():
            raise Fault("failed", "stopped")

    def _fault(self, error: Exception, sent: Mapping[str, Any]) -> Fault:
        """What the exception means; bugs of ours go through as they are."""
        import httpx2
        import openai

        from reeldb.models.openai.diagnose import fault_of

        if isinstance(error, Fault):
            return error
        ours = (openai.OpenAIError, httpx2.HTTPError, TimeoutError, NoJson)
        if not isinstance(error, ours):
            raise error
        if isinstance(error, openai.APIStatusError):
            self.server.answered = True
        optional = tuple(p for p in OPTIONAL if p in sent)
        return fault_of(error, self.endpoint.base_url, self.server.key, optional, time.time())
