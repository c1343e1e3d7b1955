"""The script that a user runs against an endpoint of theirs, against ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests import faults
from tests.seeing import SeeingServer

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "try_captioner.py"


def run(url: str, config: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, "openai:seer", "--base-url", url, *args],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "REELDB_CONFIG": str(config)},
    )


def test_a_captioner_is_tried_on_five_scenes_and_its_cost_is_told(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('["openai:seer"]\nusd_per_million_tokens = 2.0\n')
    with SeeingServer(lambda seen: f"{len(seen.moments)} picture, as asked") as server:
        done = run(server.url, config)
        assert server.calls == 5
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("1 picture, as asked") == 5
    each = [int(n) for n in re.findall(r"ok, [\d.]+ s, (\d+) tokens", done.stdout)]
    assert len(each) == 5 and min(each) > 0
    assert f"{sum(each)} tokens in all: {sum(each) * 2 / 1e6:.6f} USD" in done.stdout


def test_a_price_that_nobody_said_is_not_known(tmp_path: Path) -> None:
    with SeeingServer(lambda seen: "a picture") as server:
        done = run(server.url, tmp_path / "none.toml", "--scenes", "1")
    assert "tokens in all: price not known" in done.stdout


def test_a_wrong_key_is_one_clear_line(tmp_path: Path) -> None:
    with SeeingServer() as server:
        server.always = faults.status(401, "wrong key")
        done = run(server.url, tmp_path / "none.toml", "--scenes", "1")
    assert done.returncode == 1 and done.stderr.startswith("try_captioner: ")
    assert len(done.stderr.splitlines()) == 1 and "Traceback" not in done.stderr
