from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from reeldb.index.archive import Archive
from reeldb.index.commit import Writer
from reeldb.index.export import export_duckdb, quoted
from reeldb.index.ledger import CaptionRow, Ledger
from reeldb.index.status import status
from reeldb.schema.digests import digest
from reeldb.schema.errors import ArchiveError
from reeldb.schema.migrations import FORMAT
from reeldb.schema.relations import RELATIONS
from tests.archives import THUMBNAIL, make_archive, synthetic_video, unit

NAMES = ["a.mp4", "A.mp4", 'it\'s "x"; DROP TABLE scenes', "main", "a\nb", "../up"]


@pytest.fixture
def odd(tmp_path: Path) -> Archive:
    """Videos of odd names, two of one name, and two spaces of vectors."""
    archive = make_archive(tmp_path / "a", [synthetic_video(n) for n in NAMES])
    with Writer(archive) as writer:
        writer.put(synthetic_video("a.mp4", folder="/other", space="wide", subtitles=[(0, 1, "x")]))
    caption = CaptionRow("k", digest("content", "main"), "clip", 0.0, 2.0, [0, 1000], "a cat",
                         "fake", "scene", "ok")  # fmt: skip
    Ledger(archive).put_captions([caption])
    return archive


def test_plain_duckdb_opens_every_relation_and_a_schema_per_video(
    odd: Archive, tmp_path: Path
) -> None:
    schemas = export_duckdb(odd, tmp_path / "out.duckdb")
    assert len({s.casefold() for s in schemas.values()}) == len(schemas) == 7
    snapshot = odd.snapshot()
    with duckdb.connect(str(tmp_path / "out.duckdb"), read_only=True) as plain:
        for name, relation in RELATIONS.items():
            columns = [c[0] for c in plain.sql(f"SELECT * FROM {name}").description]
            kept = [c.name for c in relation.columns if c.kind in ("stored", "heavy")]
            assert columns == kept
            count = plain.sql(f"SELECT count(*) FROM {name}").fetchall()[0][0]
            assert count == len(snapshot.relation(name)), name
        for video_id, schema in schemas.items():
            rows = plain.sql(f"SELECT video_id FROM {quoted(schema)}.scenes").fetchall()
            assert rows == [(video_id,)] * 2
        texts = plain.sql("SELECT text, times_ms FROM main.captions").fetchall()
        assert texts == [("a cat", [0, 1000])]
        sql = "SELECT thumbnail FROM frames"
        assert {row[0] for row in plain.sql(sql).fetchall()} == {THUMBNAIL}
        sql = "SELECT video, t_s, vector FROM embeddings"
        for video, t_s, vector in plain.sql(sql).fetchall():
            assert vector == unit(video, t_s).astype(np.float16).tolist()


def test_the_first_of_equal_names_keeps_it_and_reserved_ones_get_an_id(odd: Archive) -> None:
    from reeldb.index.export import schema_names

    names = schema_names(odd.snapshot())
    main = digest("file", "/videos", "main")
    assert names[main] == f"main ({main[:8]})"
    assert "A.mp4" in names.values() and "../up" in names.values()


def test_nothing_is_overwritten_and_nothing_half_made_is_left(
    odd: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "mine").write_text("keep me")
    with pytest.raises(ArchiveError, match="there is a file already"):
        export_duckdb(odd, folder / "mine")
    with pytest.raises(ArchiveError, match="no such folder"):
        export_duckdb(odd, folder / "absent" / "x")

    def broken(*_: object) -> None:
        raise ArchiveError("the disk is full")

    monkeypatch.setattr("reeldb.index.export.schema_names", broken)
    with pytest.raises(ArchiveError, match="full"):
        export_duckdb(odd, folder / "x")
    assert [p.name for p in folder.iterdir()] == ["mine"]
    assert (folder / "mine").read_text() == "keep me"


def test_status_counts_what_is_there(odd: Archive) -> None:
    odd.set_model("embedder", "fake:test")
    told = status(odd)
    assert (told["videos"], told["scenes"], told["pictures"]) == (7, 14, 42)
    assert told["hours"] == pytest.approx(7 * 5 / 3600)
    assert told["vectors"] == {"test": 36, "wide": 6}
    assert told["captions"] == {"fake": 1}
    assert told["subtitles_and_speech"] == {"subtitle": 1}
    assert told["models"] == {"embedder": "fake:test"}
    assert told["bytes"] > 10_000 and told["format"] == FORMAT and not told["read_only"]
    assert told["versions"]["scenes"] == odd.store.version("scenes")


def test_status_of_an_empty_archive_is_all_zero(tmp_path: Path) -> None:
    told = status(make_archive(tmp_path / "a"))
    assert (told["videos"], told["hours"], told["captions"], told["vectors"]) == (0, 0.0, {}, {})
