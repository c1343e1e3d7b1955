"""A session of sandboxed Python: one worker process, one set of names, a few functions."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from reeldb.query.repl.functions import CallError, Functions
from reeldb.schema.errors import BindError, ExecuteError

MOST_OUTPUT = 20_000  # characters that a snippet may print
MOST_CALLS = 1_000  # of functions, in a session
LIMITS = {
    "max_feed_duration_secs": 10.0,
    "max_turn_duration_secs": 2.0,  # between two calls; Ctrl-C waits no longer than this
    "max_memory": 256 << 20,
    "max_recursion_depth": 200,
    "max_suspensions": 2 * MOST_CALLS,
    "max_total_sleep_secs": 0.0,
}


class Stopped(ExecuteError):
    """The session is over: the code took too long, made too many calls, or killed its worker."""


class Finished(Exception):
    """Raised by a function that ends the session."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a snippet printed, and the error it ended with, if any."""

    output: str
    error: str = ""


class Sandbox:
    """A context manager; nothing runs on when it has closed.

    Raises BindError where pydantic-monty is not installed.
    """

    def __init__(self, functions: Functions, limits: Any = None) -> None:
        try:
            import pydantic_monty
        except ImportError:
            raise BindError(
                "planner => 'repl' runs the model's code in pydantic-monty, which is not "
                "installed: pip install 'reeldb[repl]', or use planner => 'fixed'"
            ) from None
        self._monty = pydantic_monty
        self.functions = functions
        self.limits: Any = limits or LIMITS  # a TypedDict of a package that may be absent
        self.calls = 0
        self._stack = ExitStack()
        self._session: Any = None

    def __enter__(self) -> Sandbox:
        pool = self._monty.Monty(min_processes=1, max_processes=1)
        self._stack.enter_context(pool)
        self._session = pool.checkout(limits=self.limits)
        self._stack.push(self._leave)
        self._session.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _leave(self, *_: object) -> None:
        with suppress(self._monty.MontyError):  # a worker that is gone already
            self._session.__exit__(None, None, None)

    @property
    def worker(self) -> int | None:
        """The process id of the worker between two snippets."""
        pid: int | None = self._session.worker_pid
        return pid

    def run(self, code: str) -> Ran:
        """Runs a snippet. Its own errors are in the result; those of functions other than
        CallError are raised here. Raises Stopped where the session cannot go on."""
        printed = _Printed()
        try:
            self._drive(code, printed)
        except self._monty.MontyCrashedError:
            raise Stopped("the code killed its worker process") from None
        except self._monty.MontyError as error:
            said = str(error)
            if isinstance(error.exception(), TimeoutError):
                raise Stopped(f"the code took too long: {said[:200]}") from None
            if "suspension limit" in said:
                raise Stopped(f"the code made too many calls: {said[:200]}") from None
            return Ran(printed.text(), said[:2000])
        return Ran(printed.text())

    def _drive(self, code: str, printed: _Printed) -> None:
        """From call to call until the snippet is done."""
        monty = self._monty
        names = dict(self.functions.by_name)
        at = self._session.feed_start(code, external_lookup=names, print_callback=printed)
        while not isinstance(at, monty.MontyComplete):
            if isinstance(at, monty.FunctionSnapshot) and not at.is_os_function:
                at = at.resume(self._called(at.function_name, at.args, at.kwargs))
            elif isinstance(at, monty.FunctionSnapshot):
                at = at.resume_not_handled()
            elif isinstance(at, monty.NameLookupSnapshot):
                at = at.resume_auto()
            else:
                raise Stopped("the code waits for something that never comes")

    def _called(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise Stopped(f"the code made more than {MOST_CALLS:,} calls")
        try:
            return {"return_value": self.functions.call(name, args, kwargs)}
        except CallError as error:
            return {"exception": ValueError(str(error))}


class _Printed:
    """The first characters of what is printed; the rest is counted."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._length = 0

    def __call__(self, stream: str, text: str) -> None:
        room = MOST_OUTPUT - self._length
        if room > 0:
            self._kept.append(text[:room])
        self._length += len(text)

    def text(self) -> str:
        cut = self._length - MOST_OUTPUT
        tail = f"\n[{cut:,} more characters were cut]" if cut > 0 else ""
        return "".join(self._kept) + tail
