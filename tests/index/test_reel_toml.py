from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reeldb.index import reel_toml
from reeldb.index.reel_toml import ReelToml
from reeldb.schema.errors import ArchiveError
from reeldb.schema.models import ROLES

addresses = st.text(st.characters(exclude_categories=["Cs"]))


@given(
    format=st.integers(1, 99),
    migrations=st.lists(addresses).map(tuple),
    models=st.dictionaries(st.sampled_from(ROLES), addresses),
)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    format: int,
    migrations: tuple[str, ...],
    models: dict[str, str],
) -> None:
    folder, content = tmp_path_factory.mktemp("toml"), ReelToml(format, migrations, models)
    reel_toml.write(folder, content)
    assert reel_toml.read(folder) == content


@pytest.mark.parametrize(
    "text",
    [
        "format = ",
        "format = 0",
        "format = true",
        'format = "1"',
        "",
        "format = 1\nmigrations = [1]",
        "format = 1\nmodels = 3",
        "format = 1\n[models]\nembedder = 3",
        'format = 1\n[models]\nembeder = "x"',
    ],
)
def test_a_broken_file_is_named_with_its_cure(tmp_path: Path, text: str) -> None:
    (tmp_path / "reel.toml").write_text(text)
    with pytest.raises(ArchiveError, match=r"reel\.toml: .*format = \d+.* is enough"):
        reel_toml.read(tmp_path)


def test_bytes_that_are_no_text_are_a_broken_file(tmp_path: Path) -> None:
    (tmp_path / "reel.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ArchiveError, match=r"reel\.toml"):
        reel_toml.read(tmp_path)


def test_a_write_that_fails_leaves_the_old_file_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reel_toml.write(tmp_path, ReelToml(models={"ocr": "builtin:ocr"}))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ArchiveError, match="No space left"):
        reel_toml.write(tmp_path, ReelToml())
    assert [p.name for p in tmp_path.iterdir()] == ["reel.toml"]
    assert reel_toml.read(tmp_path).models == {"ocr": "builtin:ocr"}
