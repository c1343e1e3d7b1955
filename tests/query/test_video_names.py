"""Names of videos are data: whatever stands in them, they are never read as anything else."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from reeldb.cli import main
from reeldb.index.export import export_duckdb
from reeldb.models.registry import Models
from reeldb.query.engine import Engine
from reeldb.schema.errors import BindError
from tests.archives import make_archive, synthetic_video

NAMES = [
    "it's.mp4", 'say "hi".mp4', "'", '"', "\\", "a; DROP TABLE scenes; --.mp4", "two\nlines.mp4",
    "../../etc/passwd", "tab\tbell\x07esc\x1b[31m.mp4", "b\x7f\x85\u2028.mp4", "\u202egpj.mp4",
    "x\u200by.mp4", "🎬🙂.mp4", "é" * 100, "e\u0301.mp4", "\xe9.mp4", "/* x */.mp4", "$name.mp4",
    "$$", "?.mp4", "a.b.c", "scenes", "main", "SELECT", "%_.mp4", "A.MP4", "a.mp4", "-rf.mp4",
    "${HOME}", "`id`", " ", "{0}", "NULL", "0",
]  # fmt: skip
IDS = {name: f"{i:032x}" for i, name in enumerate(NAMES)}
shown = pytest.mark.parametrize("name", NAMES, ids=ascii)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    videos = [synthetic_video(name, video_id=IDS[name]) for name in NAMES]
    archive = make_archive(tmp_path_factory.mktemp("names") / "archive", videos)
    before = archive.snapshot().versions
    yield Engine(archive, Models({"embedder": "none", "captioner": "none", "ocr": "none"}))
    assert archive.snapshot().versions == before


@shown
def test_a_name_stands_for_its_video_everywhere(engine: Engine, name: str) -> None:
    text, quoted = "'" + name.replace("'", "''") + "'", '"' + name.replace('"', '""') + '"'
    mine = [(IDS[name],)]
    for sql in (
        f"SELECT DISTINCT video_id FROM {quoted}.scenes",
        f"SELECT {quoted}.scenes.video_id FROM {quoted}.scenes LIMIT 1",
        f"SELECT a.video_id FROM {quoted}.scenes a JOIN {quoted}.frames b USING (video) LIMIT 1",
        f"SELECT video_id FROM videos WHERE video = {text}",
        f"SELECT video_id FROM videos WHERE name IN ({text}, 'nothing')",
        f"SELECT max(video_id) FROM videos WHERE strpos({text}, name) = 1 AND name = {text}",
    ):
        assert engine.sql(sql).fetchall() == mine, sql
    assert engine.sql("SELECT video_id FROM videos WHERE video = ?", [name]).fetchall() == mine
    by_name = engine.sql("SELECT video_id, name FROM videos WHERE name = $n", {"n": name})
    assert by_name.fetchall() == [(IDS[name], name)]
    assert engine.sql(f"SELECT 1 AS {quoted}").columns == [name]
    plan = engine.sql(f"EXPLAIN SELECT count(*) FROM {quoted}.scenes").fetchall()
    assert "Aggregate" in str(plan)


@pytest.mark.parametrize("name", ["nothing.mp4", "x'; DROP", "a\nb", "\x1b[31m"], ids=ascii)
def test_a_name_that_is_not_there_is_quoted_on_one_line(engine: Engine, name: str) -> None:
    with pytest.raises(BindError) as caught:
        engine.sql(f'SELECT * FROM "{name}".scenes')
    message = str(caught.value)
    assert repr(name) in message
    assert not {"\n", "\x1b", "\u202e", "\u2028"} & set(message) and len(message) < 1_000


def test_every_name_is_exported_as_it_is(engine: Engine, tmp_path: Path) -> None:
    export_duckdb(engine.archive, tmp_path / "x.duckdb")
    with duckdb.connect(str(tmp_path / "x.duckdb"), read_only=True) as connection:
        rows = connection.sql("SELECT name, video_id FROM videos").fetchall()
        assert dict(rows) == IDS
        schemas = connection.sql("SELECT schema_name FROM duckdb_schemas()").fetchall()
        for (schema,) in schemas:
            if schema in NAMES and schema not in ("main", "A.MP4", "a.mp4"):
                quoted = '"' + schema.replace('"', '""') + '"'
                ids = connection.sql(f"SELECT DISTINCT video_id FROM {quoted}.scenes").fetchall()
                assert ids == [(IDS[schema],)], schema


def test_ls_gives_every_name_as_data(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    def ls(form: str) -> str:
        assert main(["ls", "--archive", str(engine.archive.path), "--format", form]) == 0
        return capsys.readouterr().out

    lines = [json.loads(line)["video"] for line in ls("ndjson").splitlines()]
    assert sorted(lines) == sorted(NAMES)
    assert sorted(row["video"] for row in json.loads(ls("json"))) == sorted(NAMES)
    rows = csv.DictReader(io.StringIO(ls("csv"), newline=""))
    assert sorted(row["video"] for row in rows) == sorted(NAMES)
    table = ls("table")
    assert len(table.splitlines()) == len(NAMES) + 2  # one line each, whatever they hold
    assert not {"\x1b", "\x07", "\u202e", "\u2028"} & set(table)
