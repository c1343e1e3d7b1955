"""An OpenAI-compatible server that looks at the pictures it is sent.

It decodes each picture and reads the moment that `tests.timecode` drew in it, so that its
witness can say what was true then. It logs every request, counts how many ran at once, and
does wrong what a test tells it to. On 127.0.0.1, any free port.
"""

from __future__ import annotations

import base64
import io
import json
import socket
import struct
import threading
import wave
from collections import deque
from collections.abc import Callable
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

import cv2
import numpy as np

from reeldb.models.colours import colour
from reeldb.models.tones import loud, pitch
from reeldb.schema.digests import digest
from tests.clips import Picture
from tests.faults import Fault, completion, status, too_long
from tests.timecode import read_stamp
from tests.witness import Seen, Witness, words

DIM = 64
POSTS = ("/v1/chat/completions", "/v1/embeddings", "/v1/audio/transcriptions")


class SeeingServer:
    """A context manager. Everything may be set at any time:

    `witness` what it answers, `listener` what it hears in a tone of so many Hz; `faults` used
    up one a request, `always` never used up, `every` (n, fault) at each nth request;
    `latency_s`; `max_pictures`, `max_chars` above which it says that its context is too short;
    `refuses` parameters that it answers with 400; `key` that it wants; `models` it has.
    """

    def __init__(self, witness: Callable[[Seen], str] | None = None) -> None:
        self.witness = witness or Witness()
        self.listener: Callable[[int], str] = lambda hz: "a tone"
        self.faults: deque[Fault] = deque()
        self.always: Fault | None = None
        self.every: tuple[int, Fault] | None = None
        self.latency_s = 0.0
        self.max_pictures: int | None = None
        self.max_chars: int | None = None
        self.refuses: tuple[str, ...] = ()
        self.names_refused = True
        self.key = ""
        self.models: tuple[str, ...] = ("seer", "speller", "listener")
        self.requests: list[Seen] = []
        self.peak = 0  # the most requests that ran at once
        self.closing = threading.Event()
        self._running = 0
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.seeing = self
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def __enter__(self) -> SeeingServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stops it; from then on connections are refused."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        """The base URL, with /v1."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def calls(self) -> int:
        """How many requests came, failed ones included, `/models` left out."""
        return len(self.requests)

    def fail(self, *faults: Fault) -> None:
        """The next requests go wrong, in this order."""
        self.faults.extend(faults)

    def answer(self, seen: Seen) -> Fault:
        """What the request gets: a fault as told, or an honest answer."""
        with self._lock:
            self.requests.append(seen)
            number = len(self.requests)
            if self.faults:
                return self.faults.popleft()
        if self.always:
            return self.always
        if self.every and number % self.every[0] == 0:
            return self.every[1]
        return self._refused(seen) or _ANSWERS[seen.path](self, seen)

    def enter(self) -> None:
        with self._lock:
            self._running += 1
            self.peak = max(self.peak, self._running)

    def leave(self) -> None:
        with self._lock:
            self._running -= 1

    def _refused(self, seen: Seen) -> Fault | None:
        """The error that a request earns by itself."""
        if self.key and seen.key != self.key:
            return status(401, f"Incorrect API key provided: {seen.key}", code="invalid_api_key")
        model = seen.body.get("model")
        if model not in self.models:
            text = f"The model `{model}` does not exist"
            return status(404, text, code="model_not_found")
        for name in self.refuses:
            if name in seen.body:
                text = f"Unsupported parameter: '{name}'" if self.names_refused else "Bad request"
                return status(400, text)
        if self.max_pictures is not None and len(seen.moments) > self.max_pictures:
            return too_long()
        if self.max_chars is not None and len(seen.prompt) > self.max_chars:
            return too_long()
        return None

    def _chat(self, seen: Seen) -> Fault:
        text = self.witness(seen)
        read = len(seen.prompt.split()) + 85 * len(seen.moments)
        return Fault(body=completion(text, total=read + len(text.split())))

    def _embed(self, seen: Seen) -> Fault:
        texts = seen.body["input"]
        data = [
            {"index": i, "embedding": embedded(text).tolist()}
            for i, text in enumerate([texts] if isinstance(texts, str) else texts)
        ]
        # Out of order, as the API allows.
        return Fault(body=json.dumps({"data": data[::-1]}).encode())

    def _listen(self, seen: Seen) -> Fault:
        sound, rate = _sound(seen.body["file"])
        stretches = {span: self.listener(pitch(sound, rate, *span)) for span in loud(sound, rate)}
        said = [
            {"start": a, "end": b, "text": f" {t}", "avg_logprob": -0.1, "no_speech_prob": 0.01}
            for (a, b), t in stretches.items()
        ]
        found: dict[str, Any] = {"text": " ".join(stretches.values())}
        if seen.body.get("response_format") == "verbose_json":
            found |= {"segments": said, "language": "en"}
        return Fault(body=json.dumps(found).encode())


_ANSWERS: dict[str, Callable[[SeeingServer, Seen], Fault]] = {
    POSTS[0]: SeeingServer._chat,
    POSTS[1]: SeeingServer._embed,
    POSTS[2]: SeeingServer._listen,
}


def embedded(text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Each word a fixed random direction: texts are near when they share words."""
    vector = np.zeros(DIM, np.float32)
    for word in sorted(words(text)) or ["?"]:
        vector += np.random.default_rng(int(digest(word)[:12], 16)).standard_normal(DIM)
    return vector


def understood(path: str, body: dict[str, Any], key: str) -> Seen:
    """The request with its pictures looked at."""
    texts: list[str] = []
    pictures: list[Picture] = []
    labels: list[str] = []
    for message in body.get("messages", []):
        content: Any = message.get("content")
        plain: list[Any] = [{"type": "text", "text": content}]
        parts = plain if isinstance(content, str) else content or []
        last = ""
        for part in parts:
            if part["type"] == "text":
                last = part["text"]
                texts.append(last)
            else:
                pictures.append(_picture(part["image_url"]["url"]))
                labels.append(last)
    moments = tuple(read_stamp(p) for p in pictures)
    return Seen(
        path,
        body,
        key,
        prompt="\n".join(t for t in texts if t not in labels),
        moments=moments,
        labels=tuple(labels),
        sizes=tuple((p.shape[1], p.shape[0]) for p in pictures),
        colours=tuple("" if m else colour(p) for m, p in zip(moments, pictures, strict=True)),
    )


def _picture(url: str) -> Picture:
    head, _, data = url.partition(",")
    if head != "data:image/jpeg;base64":
        raise ValueError(f"not a JPEG data URL: {head[:40]}")
    found = cv2.imdecode(np.frombuffer(base64.b64decode(data), np.uint8), cv2.IMREAD_COLOR)
    if found is None:
        raise ValueError("not a picture")
    return np.asarray(cv2.cvtColor(found, cv2.COLOR_BGR2RGB), np.uint8)


def _sound(data: bytes) -> tuple[np.ndarray[Any, Any], int]:
    with wave.open(io.BytesIO(data)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return samples.astype(np.float32) / 32768, file.getframerate()


def _form(kind: str, data: bytes) -> dict[str, Any]:
    """The fields of a multipart form; a file is its bytes."""
    message = message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + data)
    parts: Any = message.get_payload()
    fields: dict[str, Any] = {}
    for part in parts:
        name = part.get_param("name", header="content-disposition")
        value = part.get_payload(decode=True)
        fields[name] = value if part.get_filename() else value.decode()
    return fields


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    seeing: SeeingServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of the server's."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def do_GET(self) -> None:
        seeing = self.server.seeing
        if self.path != "/v1/models":
            self._send(status(404, "Not Found"))
        elif seeing.key and self._key() != seeing.key:
            self._send(status(401, f"Incorrect API key provided: {self._key()}"))
        else:
            data = [{"id": name, "object": "model"} for name in seeing.models]
            self._send(Fault(body=json.dumps({"object": "list", "data": data}).encode()))

    def do_POST(self) -> None:
        seeing = self.server.seeing
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path not in POSTS:
            self._send(status(404, "Not Found"))
            return
        seeing.enter()
        try:
            seeing.closing.wait(seeing.latency_s)
            answer = self._answer(data)
            if answer.manner == "hang":
                seeing.closing.wait(answer.seconds)
        finally:
            seeing.leave()
        self._send(answer)

    def _answer(self, data: bytes) -> Fault:
        kind = self.headers.get("Content-Type") or ""
        try:
            body = _form(kind, data) if kind.startswith("multipart/") else json.loads(data)
            seen = understood(self.path, body, self._key())
        except (ValueError, KeyError, TypeError) as e:
            return status(400, f"cannot be read: {e}")
        return self.server.seeing.answer(seen)

    def _key(self) -> str:
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    def _send(self, answer: Fault) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if answer.manner == "reset":
            self.wfile.write(answer.body[: len(answer.body) // 2])
            self.wfile.flush()
            # A close with unsent data thrown away is a reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
        elif answer.manner == "drip":
            for i in range(len(answer.body)):
                self.wfile.write(answer.body[i : i + 1])
                self.wfile.flush()
                if self.server.seeing.closing.wait(answer.seconds):
                    return
        else:
            self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: `requests` is the log."""
