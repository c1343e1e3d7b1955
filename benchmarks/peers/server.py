"""The fake model: an OpenAI-compatible server that is slow by a set time and counts its calls.

It works on `AT_ONCE` requests at a time, whoever sends more waits, and says in its headers that
there are no rate limits to speak of (Pixeltable sends one request at a time where it is not told).

It looks at the pictures of a request. A prompt that names an animal is a question whether
that animal is there, and gets `True` or `False`; any other gets a caption. On 127.0.0.1.
"""

from __future__ import annotations

import base64
import json
import select
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

import cv2
import numpy as np

from benchmarks.peers.step import AT_ONCE, MODEL
from benchmarks.peers.zoo import ANIMALS, seen

CHAT = "/v1/chat/completions"


class Server:
    """A context manager; `calls` counts completions, `peak` the most that ran at once."""

    def __init__(self, latency_s: float) -> None:
        self.latency_s = latency_s
        self.calls = self.peak = self._running = 0
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(AT_ONCE)
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        """The base URL, with /v1."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def taken(self) -> tuple[int, int]:
        """Calls and peak since the last time this was asked."""
        with self._lock:
            out = self.calls, self.peak
            self.calls = self.peak = 0
            return out

    def reply(self, body: dict[str, Any], gone: Callable[[], bool]) -> str | None:
        """The model's words, after its latency; None, uncounted, for a client that is gone by
        the time that its turn has come."""
        with self._places:
            if gone():
                return None
            with self._lock:
                self.calls += 1
                self._running += 1
                self.peak = max(self.peak, self._running)
            try:
                time.sleep(self.latency_s)
                return answer(body)
            finally:
                with self._lock:
                    self._running -= 1


def answer(body: dict[str, Any]) -> str:
    """What the model says to a request. Raises ValueError where it has no picture."""
    texts: list[str] = []
    pictures: list[str] = []
    for message in body["messages"]:
        content = message["content"]
        plain: list[dict[str, Any]] = [{"type": "text", "text": content}]
        for part in plain if isinstance(content, str) else content:
            if part["type"] == "text":
                texts.append(part["text"].lower())
            else:
                pictures.append(part["image_url"]["url"])
    if not pictures:
        raise ValueError("no picture in the request; this model only talks about pictures")
    animals = sorted({seen(_decoded(url)) for url in pictures})
    asked = [a for a in ANIMALS if any(a in text for text in texts)]
    if asked:
        return str(any(a in asked for a in animals))
    return f"A {' and a '.join(animals)} among coloured patches."


def _decoded(url: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    data = np.frombuffer(base64.b64decode(url.partition("base64,")[2]), np.uint8)
    picture = cv2.imdecode(data, cv2.IMREAD_COLOR)
    if picture is None:
        raise ValueError(f"not a picture: {url[:40]}")
    return np.asarray(picture[:, :, ::-1], np.uint8)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: Server

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no error of the server's."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        if self.path != CHAT:
            self._send(404, {"error": {"message": f"no such path: {self.path}"}})
            return
        try:
            text = self.server.owner.reply(body, self._gone)
        except (ValueError, KeyError) as e:
            self._send(400, {"error": {"message": str(e)}})
            return
        if text is None:
            self.close_connection = True
            return
        said = {"role": "assistant", "content": text}
        self._send(
            200,
            {
                "id": "c",
                "object": "chat.completion",
                "created": 0,
                "model": body.get("model", MODEL),
                "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105},
            },
        )

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        for what in ("requests", "tokens"):
            self.send_header(f"x-ratelimit-limit-{what}", "1000000000")
            self.send_header(f"x-ratelimit-remaining-{what}", "999999999")
            self.send_header(f"x-ratelimit-reset-{what}", "1ms")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _gone(self) -> bool:
        """Whether the client has closed its end: nothing more can be read then."""
        if not select.select([self.connection], [], [], 0)[0]:
            return False
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: calls are counted."""
