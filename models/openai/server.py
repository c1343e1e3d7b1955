"""One server as this process knows it: connection, free slots, pauses, what it refuses.

All adapters of one base URL and key share one `Server`, so that its limits hold for
captions, judgements and answers together.
"""

from __future__ import annotations

import json
import math
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from threading import Condition, Event, Lock
from typing import TYPE_CHECKING, Any
from weakref import finalize

from reeldb.models.openai.endpoint import OPENAI
from reeldb.models.openai.fault import NoJson

if TYPE_CHECKING:
    from openai import APIResponse, OpenAI

MOST_BYTES = 64 << 20  # a reply above this is no reply
CONNECT_S = 20.0
BREATH_S = 0.2  # how often a waiting thread looks whether it should stop


class Clock:
    """Time as requests feel it; tests bring another one."""

    def now(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float, stop: Event) -> None:
        stop.wait(seconds)


class Server:
    """Thread-safe. Nothing is sent, and no heavy import made, before the first `read`."""

    def __init__(self, base_url: str, key: str, *, trust_env: bool = True) -> None:
        self.base_url = base_url
        self.key = key
        self.clock = Clock()
        self.answered = False  # whether it ever gave a sensible answer
        self._refuses: set[tuple[str, str]] = set()  # (model, optional parameter)
        self._too_large: dict[str, list[tuple[int, ...]]] = {}
        self._trust_env = trust_env
        self._client: OpenAI | None = None
        self._lock = Lock()
        self._free = Condition()
        self._running = 0
        self._room = math.inf
        self._next_start_s = 0.0
        self._not_before_s = 0.0

    @property
    def client(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                self._client = self._connect()
                # One that falls out of `server_at` leaves no connection open.
                finalize(self, self._client.close).atexit = False
            return self._client

    def _connect(self) -> OpenAI:
        from openai import DefaultHttpx2Client, OpenAI

        # To load the certificates takes 0.1 s, for nothing where there is no TLS: then an
        # empty store, which trusts nobody. A redirect would take the pictures elsewhere.
        plain = self.base_url.startswith("http:") and not self._trust_env
        http = DefaultHttpx2Client(
            follow_redirects=False,
            trust_env=self._trust_env,
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
        )
        client = OpenAI(base_url=self.base_url, api_key=self.key, max_retries=0, http_client=http)
        if self.base_url != OPENAI:
            client.organization = client.project = None  # the environment's are OpenAI's
        return client

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    @contextmanager
    def slot(self, limit: int, stop: Event) -> Iterator[None]:
        """One of `limit` requests in flight, whoever asks; waits until one is free.

        Fewer than `limit` where the server has said that it is too busy, more again later.
        """
        with self._free:
            while self._running >= min(limit, self._room) and not stop.is_set():
                self._free.wait(BREATH_S)
            self._running += 1
        try:
            yield
        finally:
            with self._free:
                self._running -= 1
                self._free.notify_all()

    def ready_in_s(self, requests_per_minute: float) -> float:
        """0 where a request may start now (it then counts as started), else seconds to wait."""
        with self._lock:
            now = self.clock.now()
            start = max(self._next_start_s, self._not_before_s)
            if start > now:
                return start - now
            if requests_per_minute:
                self._next_start_s = now + 60 / requests_per_minute
            return 0.0

    def pause(self, seconds: float) -> None:
        """Nobody sends for so long: the server asked for it. Then half as many do."""
        with self._lock:
            now = self.clock.now()
            first = self._not_before_s <= now  # of the requests that were refused together
            self._not_before_s = max(self._not_before_s, now + seconds)
        if first:
            with self._free:
                self._room = max(1.0, min(self._room, self._running + 1) / 2)

    def refused_by(self, model: str) -> set[str]:
        """The optional parameters that the model is known to refuse."""
        with self._lock:
            return {part for name, part in self._refuses if name == model}

    def note_refused(self, model: str, parts: set[str]) -> None:
        with self._lock:
            self._refuses |= {(model, part) for part in parts}

    def is_too_large(self, model: str, size: tuple[int, ...]) -> bool:
        """Whether a request no larger in any way has been refused as too large."""
        return any(
            all(a >= b for a, b in zip(size, known, strict=True))
            for known in self._too_large.get(model, [])
        )

    def note_too_large(self, model: str, size: tuple[int, ...]) -> None:
        with self._lock:
            self._too_large.setdefault(model, []).append(size)

    def read(
        self,
        call: Callable[..., AbstractContextManager[APIResponse[Any]]],
        timeout_s: float,
        **body: Any,
    ) -> Any:
        """The JSON that one call gives. The limit holds for the whole body, however slowly it
        drips, and again for the last silence in it.

        Raises what the client raises, TimeoutError, or NoJson.
        """
        import httpx2

        timeout = httpx2.Timeout(timeout_s, connect=min(timeout_s, CONNECT_S))
        deadline = time.monotonic() + timeout_s
        data = bytearray()
        with call(**body, timeout=timeout) as response:
            for chunk in response.iter_bytes():
                data += chunk
                if time.monotonic() > deadline:
                    raise TimeoutError(f"no whole reply within {timeout_s:g} s")
                if len(data) > MOST_BYTES:
                    raise NoJson(f"more than {MOST_BYTES >> 20} MB")
        found = _parsed(bytes(data))
        self.answered = True
        with self._free:
            self._room += 1 / self._room
        return found

    def models(self, timeout_s: float) -> list[str]:
        """The names of the models it says it has. Raises as `read` does."""
        found = self.read(self.client.models.with_streaming_response.list, timeout_s)
        data = found.get("data") if isinstance(found, dict) else None
        return [str(m["id"]) for m in data or [] if isinstance(m, dict) and "id" in m]


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        page = data.lstrip()[:1] == b"<"
        raise NoJson("a web page" if page else "something that is no JSON", page=page) from None


@lru_cache(maxsize=64)
def server_at(base_url: str, key: str, trust_env: bool = True) -> Server:
    """The process's one `Server` for a base URL and key."""
    return Server(base_url, key, trust_env=trust_env)
