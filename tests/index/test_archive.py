from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from reeldb.index import reel_toml
from reeldb.index.archive import Archive, Memo
from reeldb.index.reel_toml import ReelToml
from reeldb.index.snapshot import Snapshot
from reeldb.index.store import Store
from reeldb.schema import migrations
from reeldb.schema.errors import ArchiveError, BindError, SchemaError, VersionGone
from reeldb.schema.migrations import Tables
from reeldb.schema.tables import TABLES
from tests.index.processes import ROOT


def test_a_new_archive_has_every_table_from_its_schema(tmp_path: Path) -> None:
    archive = Archive.open(tmp_path / "new", create=True)
    assert archive.store.tables() == sorted(TABLES)
    assert all(archive.store.schema(t) == s for t, s in TABLES.items())
    assert Archive.open(tmp_path / "new").store.versions() == archive.store.versions()


@pytest.mark.parametrize("address", ["s3://bucket/a", "gs://b", "az://c/d", "https://x/y"])
def test_an_object_store_is_refused(address: str) -> None:
    with pytest.raises(ArchiveError, match=f"{address}: .*local folders .* give a folder"):
        Archive.open(address, create=True)


def test_what_is_no_archive_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="no archive there; `reel --archive DIR add"):
        Archive.open(tmp_path / "absent")
    with pytest.raises(ArchiveError, match=r"not an archive \(no reel.toml in it\)"):
        Archive.open(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ArchiveError, match="a file, not the folder of an archive"):
        Archive.open(tmp_path / "file")
    with pytest.raises(ArchiveError, match="no archive can be made here"):
        Archive.open(tmp_path / "file", create=True)
    for odd in ("", "a\0b"):
        with pytest.raises(ArchiveError, match="is no folder"):
            Archive.open(odd)


def test_a_folder_of_other_things_never_becomes_an_archive(tmp_path: Path) -> None:
    (tmp_path / "holiday.mp4").write_text("")
    with pytest.raises(ArchiveError, match=r"not empty \('holiday.mp4' is in it\)"):
        Archive.open(tmp_path, create=True)
    assert [p.name for p in tmp_path.iterdir()] == ["holiday.mp4"]


def test_a_creation_that_was_killed_is_finished_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = Store.create
    made: list[str] = []

    def killed(store: Store, table: str, schema: pa.Schema) -> None:
        if len(made) == 5:
            raise KeyboardInterrupt
        made.append(table)
        create(store, table, schema)

    monkeypatch.setattr(Store, "create", killed)
    with pytest.raises(KeyboardInterrupt):
        Archive.open(tmp_path / "a", create=True)
    monkeypatch.undo()
    with pytest.raises(ArchiveError, match="not an archive"):
        Archive.open(tmp_path / "a")
    archive = Archive.open(tmp_path / "a", create=True)
    assert archive.store.tables() == sorted(TABLES)
    assert len(archive.snapshot().videos) == 0


def test_models_are_kept_in_the_archive_and_seen_by_everyone(archive: Archive) -> None:
    other = Archive.open(archive.path)
    archive.set_model("embedder", 'odd:"address"\n')
    assert other.models == {"embedder": 'odd:"address"\n'}
    with pytest.raises(BindError, match=r"no role 'embeder': did you mean embedder"):
        archive.set_model("embeder", "x")


def test_a_newer_format_is_refused(archive: Archive) -> None:
    reel_toml.write(archive.path, ReelToml(format=99))
    with pytest.raises(SchemaError, match="format 99, this program reads up to 2; install a newer"):
        Archive.open(archive.path)


def test_an_older_format_is_migrated_once_step_by_step(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def one(tables: Tables) -> None:
        ran.append(f"one {tables.root.name}")

    def two(tables: Tables) -> None:
        ran.append("two")
        if ran.count("two") == 1:
            raise KeyboardInterrupt

    steps = ((3, "add a column", one), (4, "add another", two))
    monkeypatch.setattr(migrations, "STEPS", steps)
    monkeypatch.setattr(migrations, "FORMAT", 4)
    with pytest.raises(KeyboardInterrupt):
        Archive.open(archive.path)
    assert reel_toml.read(archive.path).format == 3
    Archive.open(archive.path)
    Archive.open(archive.path)
    assert ran == ["one archive", "two", "two"]
    assert reel_toml.read(archive.path) == ReelToml(4, ("add a column", "add another"), {})


def test_reading_starts_again_on_a_fresh_snapshot_once(archive: Archive) -> None:
    seen: list[Snapshot] = []

    def work(snapshot: Snapshot) -> int:
        seen.append(snapshot)
        if len(seen) == 1:
            raise VersionGone("cleaned")
        return len(snapshot.videos)

    assert archive.read(work) == 2
    assert len(seen) == 2 and seen[0] is not seen[1]

    def never(_: Snapshot) -> None:
        raise VersionGone("cleaned")

    with pytest.raises(ArchiveError, match="cleaned; if that does not help, files are lost"):
        archive.read(never)


def test_a_memo_keeps_the_last_two_values_of_a_name() -> None:
    memo, made = Memo(), []

    def get(key: int) -> int:
        return memo.get("x", key, lambda: made.append(key) or key)  # type: ignore[func-returns-value]

    assert [get(k) for k in (1, 2, 1, 2, 3, 2, 1)] == [1, 2, 1, 2, 3, 2, 1]
    assert made == [1, 2, 3, 1]


def test_reading_an_archive_imports_nothing_of_other_rooms_and_no_lancedb() -> None:
    code = (
        "import sys; import reeldb.index.vectors, reeldb.index.session, reeldb.index.ledger\n"
        "bad = [m for m in ('lancedb', 'torch', 'av', 'cv2', 'onnxruntime', 'scenedetect',\n"
        "       'reeldb.query', 'reeldb.ingest', 'reeldb.media') if m in sys.modules]\n"
        "print(bad)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize(("library", "owner"), [("lance", "store"), ("duckdb", "session")])
def test_each_library_has_one_owner(library: str, owner: str) -> None:
    line = re.compile(rf"^\s*(import|from) {library}\b", re.MULTILINE)
    files = (ROOT / "index").glob("*.py")
    assert [f.stem for f in files if line.search(f.read_text())] == [owner]


@pytest.mark.filterwarnings("default")
def test_lancedb_opens_the_tables(archive: Archive) -> None:
    import lancedb

    database = lancedb.connect(archive.path)
    assert database.open_table("scenes").count_rows() == 4
    assert database.open_table("videos").to_arrow()["name"].to_pylist() == ["a.mp4", "b.mp4"]


def test_an_archive_of_the_first_format_gets_the_new_column(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    Archive.open(folder, create=True)
    Store(folder).dataset("videos").drop_columns(["sound_start_s"])
    reel_toml.write(folder, ReelToml(1, (), {}))
    opened = Archive.open(folder)
    assert opened.store.schema("videos") == TABLES["videos"]
    assert reel_toml.read(folder).format == migrations.FORMAT
