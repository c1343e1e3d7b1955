"""Hostile code in the REPL: stopped, named, and nothing left running."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from reeldb.query.repl.functions import CallError, Functions
from reeldb.query.repl.sandbox import LIMITS, MOST_CALLS, MOST_OUTPUT, Finished, Sandbox, Stopped

pytest.importorskip("pydantic_monty", reason="needs reeldb[repl]")
QUICK = {**LIMITS, "max_feed_duration_secs": 1.0, "max_turn_duration_secs": 0.5}
SMALL = {**QUICK, "max_memory": 32 << 20}


class Host:
    """Functions that count their calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def double(self, number: int) -> int:
        """Twice the number."""
        self.calls.append("double")
        return 2 * number

    def slow(self, seconds: float) -> str:
        """Waits."""
        time.sleep(seconds)
        return "done"

    def refuse(self, why: str) -> None:
        """Refuses."""
        raise CallError(why)

    def burst(self) -> None:
        """A fault of the host."""
        raise RuntimeError("key=SECRET")

    def answer(self, text: str) -> None:
        """Ends the session."""
        self.calls.append(text)
        raise Finished

    def functions(self) -> Functions:
        return Functions(self.double, self.slow, self.refuse, self.burst, self.answer)


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def sandbox(host: Host) -> Iterator[Sandbox]:
    with Sandbox(host.functions(), SMALL) as sandbox:
        yield sandbox


def test_names_persist_and_functions_give_plain_data(sandbox: Sandbox) -> None:
    assert sandbox.run("x = double(21)\nprint(x)").output == "42\n"
    assert sandbox.run("print(x + double(number=1))").output == "44\n"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import os\nos.system('ls')", "AttributeError"),
        ("import subprocess", "ModuleNotFoundError"),
        ("import socket", "ModuleNotFoundError"),
        ("import numpy", "ModuleNotFoundError"),
        ("open('/etc/passwd').read()", "PermissionError"),
        ("open('/tmp/x', 'w').write('x')", "PermissionError"),
        ("from pathlib import Path\nPath('/etc/passwd').read_text()", "PermissionError"),
        ("().__class__.__bases__[0].__subclasses__()", "AttributeError"),
        ("double.__globals__", "AttributeError"),
        ("'{0.__class__}'.format(double)", "AttributeError"),
        ("[0] * 10**10", "MemoryError"),
        ("def f():\n    x = []\n    while True: x.append('a' * 1000)\nf()", "MemoryError"),
        ("10**10**10", "MemoryError"),
        ("def f(n): return f(n + 1)\nf(0)", "RecursionError"),
        ("1 +", "SyntaxError|expression"),
        ("secret()", "no function secret"),
        ("double('a')", "whole number"),
        ("double(True)", "whole number"),
        ("double(1, 2)", "too many"),
        ("double(1, other=3)", "other"),
        ("slow(float('nan'))", "a number"),
        ("double([1])", "whole number"),
        ("refuse('not today')", "not today"),
        ("raise SystemExit", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_hostile_code_fails_by_name_and_the_session_goes_on(
    sandbox: Sandbox, host: Host, code: str, says: str
) -> None:
    ran = sandbox.run(code)
    assert re.search(says, ran.error), ran
    assert host.calls == []
    assert sandbox.run("print(double(1))").output == "2\n"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("while True: pass", "too long"),
        ("try:\n    while True: pass\nexcept BaseException: pass", "too long"),
        ("import time\ntime.sleep(30)", "too long"),
        ("for i in range(10_000): double(i)", "calls"),
        ("while True:\n    try: double(1)\n    except BaseException: pass", "calls"),
        ("while True:\n    try: refuse('x')\n    except Exception: pass", "calls"),
    ],
)
def test_code_that_does_not_end_is_stopped_and_named(host: Host, code: str, says: str) -> None:
    with Sandbox(host.functions()) as sandbox, pytest.raises(Stopped, match=says):
        sandbox.limits = QUICK
        sandbox.run(code)
    assert len(host.calls) <= MOST_CALLS


def test_the_clock_stands_still_while_a_function_works(sandbox: Sandbox) -> None:
    assert sandbox.run("print(slow(1.3))").output == "done\n"


def test_a_fault_of_a_function_is_raised_here_and_never_told_inside(sandbox: Sandbox) -> None:
    with pytest.raises(RuntimeError, match="SECRET"):
        sandbox.run("try:\n    burst()\nexcept Exception as e:\n    print(e)")


def test_answering_ends_the_session_at_once(sandbox: Sandbox, host: Host) -> None:
    with pytest.raises(Finished):
        sandbox.run("try:\n    answer('yes')\nexcept BaseException: pass\ndouble(1)")
    assert host.calls == ["yes"]


def test_output_is_cut_and_says_how_much_is_gone(sandbox: Sandbox) -> None:
    ran = sandbox.run("for i in range(300): print('x' * 99)")
    assert ran.output.startswith("x" * 99)
    assert ran.output.endswith("[10,000 more characters were cut]")
    assert len(ran.output) < MOST_OUTPUT + 100


@pytest.mark.parametrize("code", ["x = 1", "while True: pass", "for i in range(2000): double(i)"])
def test_nothing_is_left_running(host: Host, code: str) -> None:
    with Sandbox(host.functions(), QUICK) as sandbox:
        pid = sandbox.worker
        assert pid is not None
        os.kill(pid, 0)
        with suppress(Stopped):
            sandbox.run(code)
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError(f"worker {pid} is still there")


def test_a_worker_that_is_killed_stops_the_session(sandbox: Sandbox) -> None:
    pid = sandbox.worker
    assert pid is not None
    os.kill(pid, 9)
    with pytest.raises(Stopped, match="worker"):
        sandbox.run("print(1)")


def test_functions_describe_themselves_in_a_line_each(host: Host) -> None:
    assert "double(number: int) -> int: Twice the number." in host.functions().described()


def test_a_parameter_that_no_check_knows_is_refused() -> None:
    def odd(value: dict[str, int]) -> None:
        """Odd."""

    with pytest.raises(TypeError, match="odd"):
        Functions(odd)
