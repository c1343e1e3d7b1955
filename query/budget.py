"""What a statement may spend: the words of BUDGET, and the defaults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from threading import Lock
from typing import Literal

from reeldb.schema.errors import BudgetError

UNITS = ("captions", "calls", "seconds", "tokens", "usd")
COSTS = ("seconds", "tokens", "usd")  # known only after a call
DEFAULT_CAPTIONS = 256
DEFAULT_CHATS = 256
DEFAULT_LOOKS = 2_000
MANY = 1 << 60
Kind = Literal["captions", "chats", "looks"]


def unit_of(word: str) -> str | None:
    """`CAPTION` and `CAPTIONS` -> `captions`; None for a word that is no unit."""
    low = word.lower()
    return low if low in UNITS else low + "s" if low + "s" in UNITS else None


def parse_budget(text: str) -> dict[str, float]:
    """Limits by unit from `50 captions, 90 seconds`. Raises BudgetError.

    >>> parse_budget("50 captions, 1.5 usd")
    {'captions': 50.0, 'usd': 1.5}
    """
    out: dict[str, float] = {}
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s+([A-Za-z]+)\s*", part)
        unit = unit_of(match[2]) if match else None
        if match is None or unit is None:
            raise BudgetError(
                f"budget {part.strip()!r}: write a number and one of {', '.join(UNITS)}"
            )
        if unit in out:
            raise BudgetError(f"the budget gives {unit} twice")
        out[unit] = float(match[1])
    return out


@dataclass(frozen=True, slots=True)
class Limits:
    """At most so many captions made, calls of any kind, seconds and tokens of models, dollars.

    None is no limit of that kind. `chats` and `looks` are default limits, not words of BUDGET.
    """

    captions: int | None = None
    calls: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    usd: float | None = None
    chats: int | None = None
    looks: int | None = None

    @staticmethod
    def of(amounts: Mapping[str, float] | Iterable[tuple[str, float]]) -> Limits:
        """From numbers by unit. Raises BudgetError for a number that counts nothing."""
        values = dict(amounts)
        for unit, number in values.items():
            whole = unit in ("captions", "calls", "tokens")
            if unit not in UNITS:
                raise BudgetError(f"budget has no unit {unit!r}; known: {', '.join(UNITS)}")
            if not isfinite(number) or number < 0 or (whole and number != int(number)):
                kind = "a whole number" if whole else "a number"
                raise BudgetError(f"budget of {number:g} {unit}: give {kind}, 0 or more")
        return Limits(
            captions=_whole(values.get("captions")),
            calls=_whole(values.get("calls")),
            seconds=values.get("seconds"),
            tokens=_whole(values.get("tokens")),
            usd=values.get("usd"),
        ).with_defaults()

    @staticmethod
    def default() -> Limits:
        return Limits().with_defaults()

    def with_defaults(self) -> Limits:
        """Kinds that the clause does not bound keep their default; CALLS bounds them all."""
        if self.calls is not None:
            return self
        captions = DEFAULT_CAPTIONS if self.captions is None else self.captions
        return Limits(
            captions, None, self.seconds, self.tokens, self.usd, DEFAULT_CHATS, DEFAULT_LOOKS
        )

    def amounts(self) -> dict[str, float]:
        """The limits that words of BUDGET can name, by unit."""
        return {u: float(n) for u in UNITS if (n := getattr(self, u)) is not None}

    def __str__(self) -> str:
        named = ((u, getattr(self, u)) for u in (*UNITS, "chats", "looks"))
        return ", ".join(f"{n:g} {u}" for u, n in named if n is not None)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


@dataclass(slots=True)
class Each:
    """What the dearest call of a kind has cost so far; None where none has been measured."""

    seconds: float | None = None
    tokens: float | None = None
    usd: float | None = None


class Budget:
    """What a statement has spent, debited before each call, so parallel calls cannot overspend.

    What a call costs in seconds, tokens and dollars is known only after it. Before it, the
    dearest call of its kind so far is debited (`expect`: of the archive, then of this statement);
    where none was ever measured, the first goes alone. So these units can be exceeded only by
    what one batch costs above the dearest call known.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.captions = self.chats = self.looks = self.retries = self.tokens = 0
        self.seconds = self.usd = 0.0
        self.unpriced: set[str] = set()  # models that were called at a cost nobody knows
        self.ended_by: str | None = None
        self._each: dict[Kind, Each] = {}
        self._flying: dict[Kind, int] = {}  # calls that are debited and not paid yet
        self._lock = Lock()

    def expect(self, each: Mapping[Kind, Each]) -> None:
        """What the dearest call of each kind has cost before."""
        self._each.update(each)

    @property
    def calls(self) -> int:
        return self.captions + self.chats + self.looks + self.retries

    @property
    def dollars(self) -> float | None:
        """What was paid; None where part of it is not known, which is not nothing."""
        return None if self.unpriced else self.usd

    def add(self, whose: str, tokens: int, usd: float | None) -> None:
        """What was paid outside of debited calls, as by a statement within a question."""
        with self._lock:
            self.tokens += tokens
            self.usd += usd or 0.0
            if usd is None:
                self.unpriced.add(whose)

    def left(self, kind: Kind) -> int:
        """How many calls of a kind may still be made, by their number."""
        limits = self.limits
        if self._over() is not None:
            return 0
        most = [MANY]
        for limit, spent in ((getattr(limits, kind), getattr(self, kind)),
                             (limits.calls, self.calls)):  # fmt: skip
            if limit is not None:
                most.append(max(0, limit - spent))
        return min(most)

    def _over(self) -> str | None:
        for unit in COSTS:
            limit = getattr(self.limits, unit)
            if limit is not None and getattr(self, unit) >= limit:
                return f"{limit:g} {unit}"
        return None

    def _affordable(self, kind: Kind) -> int:
        """How many calls the seconds, tokens and dollars left pay for."""
        return min(self._pays(unit, kind) for unit in COSTS)

    def _pays(self, unit: str, kind: Kind) -> int:
        limit = getattr(self.limits, unit)
        if limit is None:
            return MANY
        each = getattr(self._each.get(kind, Each()), unit)
        if each is None:
            if unit == "seconds":  # they run out while others wait: no call need go alone
                return MANY
            return 0 if self._flying.get(kind) else 1
        flying = sum(
            n * (getattr(self._each.get(k, Each()), unit) or 0.0) for k, n in self._flying.items()
        )
        left = limit - getattr(self, unit) - flying
        return MANY if each <= 0 else max(0, int(left / each + 1e-6))

    def take(self, kind: Kind, wanted: int) -> int:
        """Debits up to `wanted` calls and gives how many are granted."""
        with self._lock:
            granted = min(wanted, self.left(kind), self._affordable(kind))
            setattr(self, kind, getattr(self, kind) + granted)
            self._flying[kind] = self._flying.get(kind, 0) + granted
            if granted < min(wanted, 1 if self._goes_alone(kind) else wanted):
                self.ended_by = self._cause(kind)
        return granted

    def _goes_alone(self, kind: Kind) -> bool:
        """Whether one call was granted to find out what a call costs."""
        each = self._each.get(kind, Each())
        limits = self.limits
        return (limits.tokens is not None and each.tokens is None) or (
            limits.usd is not None and each.usd is None
        )

    def again(self, kind: Kind) -> bool:
        """Debits one more call for a request that is repeated; False where none is left."""
        with self._lock:
            calls, over = self.limits.calls, self._over()
            ended = calls is not None and self.calls >= calls
            if not ended and over is None and self._affordable(kind):
                self.retries += 1
                return True
            self.ended_by = over or (f"{calls:,} calls" if ended else self._cause(kind))
            return False

    def give_back(self, kind: Kind, calls: int) -> None:
        """Calls that were debited and then not made."""
        with self._lock:
            setattr(self, kind, getattr(self, kind) - calls)
            self._flying[kind] = self._flying.get(kind, 0) - calls

    def _cause(self, kind: Kind) -> str:
        over = self._over()
        if over is not None:
            return over
        if self._affordable(kind) < self.left(kind):
            short = min(COSTS, key=lambda unit: self._pays(unit, kind))
            return f"{getattr(self.limits, short):g} {short}"
        own, every = getattr(self.limits, kind), self.limits.calls
        if own is not None and getattr(self, kind) >= own:
            return f"{own:,} {kind}"
        return f"{every:,} calls"

    def paid(
        self,
        kind: Kind,
        seconds: float,
        tokens: int,
        usd: float = 0.0,
        most_tokens: float = 0.0,
        most_usd: float = 0.0,
        calls: int = 0,
    ) -> None:
        """What debited calls of a kind (0: all of them) cost, and the dearest one of them."""
        with self._lock:
            self.seconds += seconds
            self.tokens += tokens
            self.usd += usd
            flying = self._flying.get(kind, 0)
            calls = min(calls or flying, flying)
            self._flying[kind] = flying - calls
            if calls:
                each = self._each.get(kind, Each())
                self._each[kind] = Each(
                    max(each.seconds or 0.0, seconds / calls),
                    max(each.tokens or 0.0, most_tokens),
                    max(each.usd or 0.0, most_usd),
                )
