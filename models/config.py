"""The user's own config: where models are reached, in a TOML file that no archive can name.

It is `$REELDB_CONFIG`, else `reeldb/config.toml` under `$XDG_CONFIG_HOME` (`~/.config`). A
table is named by an address or by a scheme; the address wins, setting by setting:

```toml
[openai]                             # every openai: address
base_url = "http://127.0.0.1:8000/v1"
concurrency = 16

["openai:gpt-5-mini"]
base_url = "https://api.openai.com/v1"
key_env = "OPENAI_API_KEY"           # the name of a variable, never the key itself
usd_per_million_tokens = 0.6         # what EXPLAIN and BUDGET ... USD reckon with
```
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import urlsplit

from reeldb.schema.errors import ModelError

VARIABLE = "REELDB_CONFIG"
PRICE = "usd_per_million_tokens"  # of an address or scheme; no adapter reads it
_HEADER = re.compile(r"^\s*\[[^\[]")


def config_path(environ: Mapping[str, str] | None = None) -> Path:
    """Where the user's config is or would be."""
    environ = os.environ if environ is None else environ
    if named := environ.get(VARIABLE):
        return Path(named).expanduser()
    home = environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "reeldb" / "config.toml"


def read_config(path: Path | None = None) -> dict[str, dict[str, object]]:
    """The settings by address or scheme; no file is no settings.

    Raises ModelError where the file cannot be read or holds something else than tables.
    """
    path = path or config_path()
    try:
        return _tables(path.read_text("utf-8"), path)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as e:
        raise ModelError(f"{path}: the config cannot be read: {e}") from e


def settings_for(address: str, path: Path | None = None) -> dict[str, object]:
    """The user's settings for one address: those of its scheme, then its own over them."""
    tables = read_config(path)
    return tables.get(address.partition(":")[0], {}) | tables.get(address, {})


def settings_for_all(
    addresses: Iterable[str], path: Path | None = None
) -> dict[str, dict[str, object]]:
    """The user's settings by address, as `Models(roles, configs)` takes them."""
    return {address: settings_for(address, path) for address in addresses}


def set_endpoint(address: str, path: Path | None = None, **settings: str) -> Path:
    """Writes settings (`base_url=...`) for one address, all or nothing; gives the file.

    The rest of the file, comments too, stays as it is. Raises ModelError where it cannot.
    """
    path = (path or config_path()).resolve()
    for name, value in settings.items():
        if not value.isprintable():
            raise ModelError(f"{name} of {address!r} holds control characters; leave them out")
        if name == "base_url":
            check_base_url(value)
    tables = read_config(path)
    text = path.read_text("utf-8") if path.exists() else ""
    wanted = {**tables, address: {**tables.get(address, {}), **settings}}
    edited = _edited(text, address, settings)
    try:
        right = _tables(edited, path) == wanted
    except ModelError:
        right = False
    if not right:
        lines = "; ".join(f"{k} = {_quoted(v)}" for k, v in settings.items())
        raise ModelError(f"{path} cannot be edited safely; write [{_quoted(address)}] {lines}")
    _replace(path, edited)
    return path


def check_base_url(url: str) -> None:
    """Raises ModelError, which shows no password, for what is no base URL."""
    try:
        parts = urlsplit(url)
        host, secret = parts.hostname, parts.username or parts.password
        _ = parts.port
    except ValueError:
        host, secret, parts = None, None, urlsplit("")
    if secret or parts.query:
        raise ModelError("base_url holds a user, password or key: leave it out, set key_env")
    if parts.scheme not in ("http", "https") or not host or parts.fragment:
        raise ModelError(f"base_url = {url!r}: write it as https://api.openai.com/v1")


def _tables(text: str, path: Path) -> dict[str, dict[str, object]]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise ModelError(f"{path} is not TOML: {e}") from e
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise ModelError(f"{path}: {name} stands alone; put it under [scheme] or [address]")
    return tables


def _edited(text: str, address: str, settings: Mapping[str, str]) -> str:
    """The text with the settings in the address's own table, which is added if need be."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if _HEADER.match(line)]
    start = next((i for i in starts if _names(lines[i], address)), None)
    if start is None:
        gap = [""] if lines and lines[-1].strip() else []
        lines += [*gap, f"[{_quoted(address)}]"]
        start = len(lines) - 1
    stop = next((i for i in starts if i > start), len(lines))
    table = lines[start + 1 : stop]
    for name, value in settings.items():
        line = f"{name} = {_quoted(value)}"
        old = [i for i, have in enumerate(table) if re.match(rf"\s*{re.escape(name)}\s*=", have)]
        if old:
            table[old[0]] = line
        else:
            table.insert(0, line)
    return "\n".join([*lines[: start + 1], *table, *lines[stop:]]) + "\n"


def _names(header: str, address: str) -> bool:
    try:
        return list(tomllib.loads(header)) == [address]
    except tomllib.TOMLDecodeError:
        return False


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _replace(path: Path, text: str) -> None:
    """Writes beside the file, then renames: a reader sees the old file or the new one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as new:
            new.write(text)
            new.flush()
            os.fsync(new.fileno())
        Path(new.name).chmod(mode)
        Path(new.name).replace(path)
    except OSError as e:
        raise ModelError(f"{path}: the config cannot be written: {e}") from e
