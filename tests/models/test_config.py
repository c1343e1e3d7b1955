from __future__ import annotations

from pathlib import Path

import pytest

from reeldb.models.config import config_path, read_config, set_endpoint, settings_for
from reeldb.models.config import settings_for_all as for_all
from reeldb.schema.errors import ModelError

URL = "http://127.0.0.1:8000/v1"


def test_the_place_is_named_or_found_by_the_usual_rules() -> None:
    assert config_path({"REELDB_CONFIG": "/a/b.toml", "XDG_CONFIG_HOME": "/x"}) == Path("/a/b.toml")
    assert config_path({"XDG_CONFIG_HOME": "/x"}) == Path("/x/reeldb/config.toml")
    assert config_path({}) == Path.home() / ".config" / "reeldb" / "config.toml"


def test_no_file_is_no_settings(tmp_path: Path) -> None:
    assert read_config(tmp_path / "none.toml") == {}
    assert settings_for("openai:a", tmp_path / "none.toml") == {}


def test_an_address_wins_over_its_scheme_setting_by_setting(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text('[openai]\nbase_url = "s"\nconcurrency = 4\n["openai:a"]\nbase_url = "a"\n')
    assert settings_for("openai:a", path) == {"base_url": "a", "concurrency": 4}
    assert for_all(["openai:b", "builtin:ocr"], path) == {
        "openai:b": {"base_url": "s", "concurrency": 4},
        "builtin:ocr": {},
    }


@pytest.mark.parametrize("text", ["[openai", 'base_url = "x"', "\0"])
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(ModelError, match=r"c\.toml"):
        read_config(path)


def test_an_endpoint_is_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "c.toml"
    set_endpoint("openai:org/a:7b", path, base_url=URL)
    assert read_config(path) == {"openai:org/a:7b": {"base_url": URL}}
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_the_rest_of_the_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    before = (
        "# mine\n[openai]\nconcurrency = 4 # enough\n\n"
        '["openai:a"] # first\nrevision = "2"\nbase_url = "old"\n\n[other]\nx = [\n  1,\n]\n'
    )
    path.write_text(before)
    path.chmod(0o640)
    set_endpoint("openai:a", path, base_url=URL, key_env="MINE")
    assert path.read_text() == before.replace('"old"', f'"{URL}"').replace(
        "# first\n", '# first\nkey_env = "MINE"\n'
    )
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_second_address_is_added_below(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    for address in ("openai:a", "openai:b", "openai:a"):
        set_endpoint(address, path, base_url=f"{URL}/{address[-1]}")
    assert path.read_text() == (
        f'["openai:a"]\nbase_url = "{URL}/a"\n\n["openai:b"]\nbase_url = "{URL}/b"\n'
    )


def test_a_file_that_cannot_be_edited_safely_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    text = '[openai]\nnote = """\n["openai:a"]\n"""\n'
    path.write_text(text)
    with pytest.raises(ModelError, match="cannot be edited safely; write"):
        set_endpoint("openai:a", path, base_url=URL)
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:8000", "write it as"),
        ("https://u:p@host/v1", "leave it out"),
        ("http://h/\n[x]", "control"),
    ],
)
def test_a_bad_url_is_not_written(tmp_path: Path, url: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        set_endpoint("openai:a", tmp_path / "c.toml", base_url=url)
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "link.toml"
    real.write_text("")
    link.symlink_to(real)
    set_endpoint("openai:a", link, base_url=URL)
    assert link.is_symlink() and settings_for("openai:a", real) == {"base_url": URL}


def test_a_quote_in_a_value_is_escaped(tmp_path: Path) -> None:
    path = set_endpoint('openai:"odd"', tmp_path / "c.toml", revision='a "b" \\ é')
    assert read_config(path) == {'openai:"odd"': {"revision": 'a "b" \\ é'}}
