"""The comparison with other systems: its model, its page, and ReelDB's own part of it.

The other systems are not installed here; their parts are run by `python -m benchmarks.peers`.
"""

from __future__ import annotations

import http.client
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

import benchmarks.peers.__main__ as program
from benchmarks.peers.contestants import CONTESTANTS, REEL, Contestant
from benchmarks.peers.measure import Killed, Outcome, Took, right, wanted
from benchmarks.peers.page import Made, page
from benchmarks.peers.server import Server
from benchmarks.peers.step import ASK, DESCRIBE, STEPS, post, post_all
from benchmarks.peers.zoo import ANIMALS, COLOURS, Zoo

PEER = Contestant("Peer", "peer", "", ("peer==1",), "by a loop", ("It forgets all",))
MADE = Made("2026-01-02", "2 cores", 20, 10, 0.05, 1, 8, 17, dict.fromkeys(STEPS, 2))


def _jpeg(animal: str, quality: int = 90, side: int = 1) -> bytes:
    picture = np.random.default_rng(0).integers(0, 256, (240, 320, 3), np.uint8)
    picture[60:180, 80:240] = COLOURS[ANIMALS.index(animal)]
    picture = cv2.resize(picture[:, :, ::-1], (320 // side, 240 // side))
    return cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()


def _outcome(name: str, scale: float, calls: dict[str, int], error: str = "") -> Outcome:
    took = {s: Took(scale, 2 * scale, calls.get(s, 0), 1, 2, 2) for s in STEPS}
    return Outcome(name, "1.2", None if error else took, int(scale * 1e6), error)


@pytest.mark.parametrize("animal", ANIMALS)
def test_the_model_sees_the_animal_in_any_jpeg(animal: str) -> None:
    other = "owl" if animal != "owl" else "fox"
    with Server(0) as server:
        for jpeg in (_jpeg(animal), _jpeg(animal, quality=30), _jpeg(animal, side=4)):
            assert animal in post(server.url, jpeg, DESCRIBE)
            assert post(server.url, jpeg, f"is a {animal} there?") == "True"
            assert post(server.url, jpeg, f"is a {other} there?") == "False"


def test_the_model_counts_its_calls_and_works_on_eight_at_a_time() -> None:
    with Server(0.05) as server:
        said = post_all(server.url, [_jpeg("heron"), _jpeg("fox")] * 8, ASK)
        assert said == ["True", "False"] * 8
        calls, at_once = server.taken()
        assert calls == 16 and 2 <= at_once <= 8
        assert server.taken() == (0, 0)


def test_a_request_without_a_picture_is_refused() -> None:
    with Server(0) as server:
        connection = http.client.HTTPConnection(server.url[7:].removesuffix("/v1"))
        body = {"model": "seer", "messages": [{"role": "user", "content": ASK}]}
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        reply = connection.getresponse()
        assert reply.status == 400
        assert "no picture" in json.loads(reply.read())["error"]["message"]
        connection.close()


def test_rows_are_checked_against_the_clip() -> None:
    zoo = Zoo(Path("x"), ((0, 2, "fox"), (2, 4, "heron"), (4, 6, "fox")))
    assert right(zoo, "first", [0, 1.9, 2, 5, 7]) == 3
    assert right(zoo, "limit", [0, 2, 3.5]) == 2
    assert [wanted(zoo, s, 6) for s in STEPS] == [6, 4, 0, 2, 2]


def test_an_outcome_survives_its_line() -> None:
    for outcome in (_outcome("a", 1.5, {"first": 3}), _outcome("b", 0, {}, "broke")):
        assert Outcome.read(outcome.json()) == outcome


def _line(text: str, start: str, table: int = 0) -> str:
    return [line for line in text.splitlines() if line.startswith(start)][table]


def test_the_page_sets_a_peer_against_reeldb() -> None:
    ours = _outcome(REEL, 2.0, {"first": 40, "limit": 20})
    theirs = _outcome("Peer", 3.0, {"first": 60, "second": 60, "limit": 10, "again": 10})
    text = page(MADE, [CONTESTANTS[0], PEER], [ours, theirs])
    seconds = ["3.00"] * 5
    assert _line(text, "| Peer |") == f"| Peer | 1.2 | {' | '.join(seconds)} | 3.0 | 3.0 |"
    assert _line(text, "| Peer |", 1) == "| Peer | 60 | 60 | 10 | 10 |  | 1 | 2/2, 2/2, 2/2, 2/2 |"
    both = ["1.50x / 1.50x"] * 5
    calls = "1.50x | 60, ReelDB 0 | 0.50x | 10, ReelDB 0"
    assert _line(text, "| Peer |", 2) == f"| Peer | {' | '.join(both)} | {calls} | 1.50x |"
    assert "after 17 calls" in text
    assert "**Peer** 1.2 (`peer==1`): by a loop." in text
    assert "- It forgets all." in text


def test_the_page_says_what_the_counts_mean() -> None:
    lazy = _outcome("Peer", 1.0, {"first": 2, "limit": 1})
    eager = _outcome("Peer", 1.0, {"first": 2, "limit": 2, "again": 2})
    for outcome, calls, seen in ((lazy, 2, False), (eager, 3, True)):
        outcome = replace(outcome, killed=Killed(calls, 2, 2))
        text = page(MADE, [PEER], [outcome])
        assert _line(text, "| Peer |", 1).split(" | ")[5] == str(calls)
        assert ("asked the model about all 2 rows" in text) is seen
        assert ("was paid for again" in text) is seen
        assert ("killed at half nothing was kept" in text) is seen


@pytest.mark.parametrize(("calls", "told"), [(33, False), (34, True)])
def test_the_page_tells_of_a_limit_that_asks_far_more_than_it_must(calls: int, told: bool) -> None:
    took = {s: Took(1, 2, calls, 8, 100, 100) for s in STEPS}  # 17 would do, 8 go at once
    text = page(MADE, [PEER], [Outcome("Peer", "1.2", took)])
    assert (f"asked the model about {calls} of 100 rows, where 17 do" in text) is told


def test_the_page_tells_of_a_crash_after_the_result() -> None:
    took = {s: Took(1, 2, 1, 1, 2, 2, status=-11 if s == "limit" else 0) for s in STEPS}
    text = page(MADE, [PEER], [Outcome("Peer", "1.2", took), _outcome("Peer", 1.0, {})])
    said = [line for line in text.splitlines() if "ended with status" in line]
    assert said == [
        "- LIMIT 5: 1 of 2 processes ended with status -11, after they had given their result."
    ]


@pytest.mark.parametrize(
    ("killed", "cell"),
    [
        (Killed(3, 2, 2), "3"),
        (Killed(3, 1, 1), "3, 1/1 of 2 rows"),
        (Killed(3, 2, 1), "3, 1/2 of 2 rows"),
        (Killed(3, 0, 0, "table | there"), "3, then: table \\| there"),
    ],
)
def test_the_page_tells_what_a_killed_question_came_to(killed: Killed, cell: str) -> None:
    text = page(MADE, [PEER], [replace(_outcome("Peer", 1.0, {"first": 2}), killed=killed)])
    assert f"| {cell} | 1 |" in _line(text, "| Peer |", 1)


def test_medians_are_of_all_good_runs() -> None:
    runs = [_outcome(REEL, s, {}) for s in (1.0, 9.0, 2.0)] + [_outcome(REEL, 0, {}, "late")]
    text = page(MADE, CONTESTANTS[:1], runs)
    assert "| 2.00 (1.00-9.00) |" in text
    assert "- 1 of 4 runs failed: late" in text


def test_a_peer_that_fails_has_a_row_that_says_so() -> None:
    ours, broken = _outcome(REEL, 2.0, {}), _outcome("Peer", 0, {}, "index: a | b\n<script>")
    text = page(MADE, [CONTESTANTS[0], PEER], [ours, broken])
    assert _line(text, "| Peer |").startswith("| Peer | did not run: see below |")
    assert "- 1 of 1 runs failed: index: a \\| b &lt;script>" in text
    assert "It was not run" in page(MADE, [CONTESTANTS[0], PEER], [ours])
    assert "has no good run: no ratios" in page(MADE, [CONTESTANTS[0], PEER], [broken])


@pytest.mark.slow
def test_reeldb_makes_its_part_and_a_broken_system_does_not_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    broken = Contestant("Broken", "reel", "nonsense", (), "nothing")
    missing = Contestant("Missing", "missing", "", ("--no-index", "no-such"), "nothing")
    monkeypatch.setattr(program, "CONTESTANTS", (missing, CONTESTANTS[0], broken))
    out = tmp_path / "page.md"
    failed = program.main(
        ["--venvs", str(tmp_path), "--out", str(out), "--repeats", "1", "--shots", "10",
         "--latency-ms", "1"]
    )  # fmt: skip
    text, lines = out.read_text(), capsys.readouterr().err.splitlines()
    outcomes = {o.name: o for o in (Outcome.read(t.partition(": ")[2]) for t in lines)}
    steps = outcomes[REEL].steps
    assert failed and steps is not None
    found = {s: (t.calls, t.found, t.right) for s, t in steps.items()}
    assert found["index"] == (0, 20, 20)
    assert found["first"] == (20, 2, 2)
    assert found["second"] == (0, 2, 2)
    assert found["limit"][1:] == (2, 2) and found["limit"][0] <= 20
    assert outcomes["Broken"].error.startswith("index: exit 1: KeyError: 'nonsense'")
    assert "| Missing | did not run" in text and "install: exit 1: " in text and "no-such" in text
    killed = outcomes[REEL].killed
    assert killed is not None and (killed.found, killed.right, killed.error) == (2, 2, "")
    assert 20 <= killed.calls <= 40  # how much is in flight depends on the machine
