"""What every `run_*.py` shares: its command line, its clock, its JSON line, a bare client.

Nothing but the standard library is imported here: it runs in every system's own environment.
"""

from __future__ import annotations

import base64
import http.client
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

STEPS = ("index", "first", "second", "limit", "again")
WORDS = {"first": "fox", "second": "owl"}  # which animal's captions the two questions want
WANTED = "heron"  # what the model is asked about every picture until LIMIT have it
LIMIT = 5  # step `again` asks step `limit` once more
AT_ONCE = 8  # calls at once, where a system lets one say
MODEL = "seer"
DESCRIBE = "Describe the picture in one sentence."
ASK = f"Is there a {WANTED} in the picture? Answer True or False."
RESULT = "RESULT "  # what the line begins with: systems print other things too


@dataclass(frozen=True, slots=True)
class Job:
    """One step: the clip, a folder that lasts from step to step, the model's base URL."""

    step: str
    clip: Path
    work: Path
    url: str
    way: str


@dataclass(frozen=True, slots=True)
class Line:
    """What a step says at its end."""

    step: str
    version: str
    seconds: float
    found: list[float]


Step = Callable[[Job], Sequence[float]]  # gives the times in the clip, in seconds, that it found


def run(version: Callable[[], str], steps: Mapping[str, Step]) -> None:
    """Runs the step of the command line and prints `RESULT` and one JSON line."""
    step, clip, work, url, way = sys.argv[1:6]
    job = Job(step, Path(clip), Path(work), url, way)
    started = time.perf_counter()
    does = steps["limit" if step == "again" else step]
    found = [round(float(t), 3) for t in does(job)]
    seconds = time.perf_counter() - started
    line = Line(step, version(), seconds, found)
    print(RESULT + json.dumps(asdict(line)), flush=True)


def post(url: str, jpeg: bytes, prompt: str) -> str:
    """One chat completion about one picture."""
    parts = urlsplit(url)
    picture = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode()
    content = [
        {"type": "text", "text": prompt},
        {"type": "image_url", "image_url": {"url": picture}},
    ]
    body = {"model": MODEL, "messages": [{"role": "user", "content": content}]}
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    with closing(connection):
        connection.request(
            "POST",
            f"{parts.path}/chat/completions",
            json.dumps(body),
            {"Content-Type": "application/json"},
        )
        reply = json.loads(connection.getresponse().read())
    return str(reply["choices"][0]["message"]["content"])


def post_all(url: str, jpegs: Sequence[bytes], prompt: str) -> list[str]:
    """The same about many pictures, `AT_ONCE` at a time: for systems that run one's own code."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda jpeg: post(url, jpeg, prompt), jpegs))
