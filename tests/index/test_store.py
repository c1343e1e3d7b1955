from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reeldb.index.store import Store, any_of, quote
from reeldb.schema.errors import ArchiveError, SchemaError, VersionGone
from reeldb.schema.tables import TABLES, embeddings_schema

KEYS = pa.schema([("key", pa.string()), ("n", pa.int64())])
SCHEMAS = {**TABLES, "embeddings_x": embeddings_schema("x", 3)}

# From their bits: of st.floats(width=16) most examples are thrown away.
HALVES = (
    st.integers(0, 0xFC00)
    .map(lambda bits: float(np.uint16(bits).view(np.float16)))
    .filter(lambda half: half == half)
)


def values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    """Any value that a column of this type can hold, NULL among them."""
    if pa.types.is_struct(kind):
        fields = {f.name: values(f.type) for f in kind}
        return st.none() | st.fixed_dictionaries(fields)
    if pa.types.is_fixed_size_list(kind):
        assert kind.value_type == pa.float16()
        return st.lists(HALVES, min_size=3, max_size=3)
    if pa.types.is_list(kind):
        return st.none() | st.lists(values(kind.value_type), max_size=3)
    plain: dict[pa.DataType, st.SearchStrategy[Any]] = {
        pa.string(): st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        pa.int32(): st.integers(-(2**31), 2**31 - 1),
        pa.int64(): st.integers(-(2**63), 2**63 - 1),
        pa.float64(): st.floats(allow_nan=False),
        pa.bool_(): st.booleans(),
        pa.binary(): st.binary(max_size=20),
        pa.timestamp("us"): st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1)),
    }
    return st.none() | plain[kind]


def tables(schema: pa.Schema) -> st.SearchStrategy[list[dict[str, Any]]]:
    row = st.fixed_dictionaries({f.name: values(f.type) for f in schema})
    return st.lists(row, max_size=5)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    store.create("t", KEYS)
    return store


@pytest.mark.parametrize("table", SCHEMAS)
@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_rows_in_are_rows_out(tmp_path: Path, table: str, data: st.DataObject) -> None:
    schema = SCHEMAS[table]
    store = Store(tmp_path)
    store.create(table, schema)
    before = store.count(table)
    first, second = data.draw(tables(schema)), data.draw(tables(schema))
    store.append(table, first)
    store.append(table, pa.Table.from_pylist(second, schema=schema))
    rows = store.read(table)
    assert rows.schema == schema
    assert rows.slice(before).to_pylist() == first + second


def test_upsert_replaces_rows_of_the_same_key_and_adds_the_others(store: Store) -> None:
    store.append("t", [{"key": "a", "n": 1}, {"key": "b", "n": 1}])
    store.upsert("t", [{"key": "b", "n": 2}, {"key": "c", "n": 2}], "key")
    rows = sorted(store.read("t").to_pylist(), key=lambda r: r["key"])
    assert rows == [{"key": "a", "n": 1}, {"key": "b", "n": 2}, {"key": "c", "n": 2}]


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(key=st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_any_text_is_literal_in_a_filter(store: Store, key: str) -> None:
    store.delete("t", "true")
    store.append("t", [{"key": key, "n": 1}, {"key": key + "x", "n": 2}])
    assert store.read("t", where=f"key = {quote(key)}")["n"].to_pylist() == [1]
    assert store.delete("t", any_of("key", [key])) == 1
    assert store.read("t")["n"].to_pylist() == [2]


def test_no_version_is_made_where_there_is_nothing_to_write(store: Store) -> None:
    before = store.versions()
    store.append("t", [])
    store.upsert("t", [], "key")
    assert store.delete("t", any_of("key", ["absent"])) == 0
    assert store.delete("t", any_of("key", [])) == 0
    store.create("t", KEYS)
    assert store.versions() == before


def test_unknown_columns_and_misfit_values_are_refused(store: Store) -> None:
    with pytest.raises(SchemaError, match=r"t has no column 'keys': did you mean key\?"):
        store.append("t", [{"keys": "a"}])
    with pytest.raises(SchemaError, match="rows do not fit the table t"):
        store.append("t", [{"key": "a", "n": "many"}])
    with pytest.raises(SchemaError, match="rows do not fit the table t"):
        store.append("t", pa.table({"key": pa.array([{"not": "text"}])}))
    assert store.count("t") == 0


def test_an_old_version_stays_readable_until_it_is_cleaned(store: Store) -> None:
    store.append("t", [{"key": "a", "n": 1}])
    old = store.version("t")
    store.append("t", [{"key": "b", "n": 1}])
    assert store.read("t", version=old)["key"].to_pylist() == ["a"]
    store.merge("t")
    time.sleep(0.01)
    store.clean("t", 3600)
    assert store.read("t", version=old)["key"].to_pylist() == ["a"]
    store.clean("t", 0)
    with pytest.raises(VersionGone, match="a version of t is gone"):
        Store(store.root).read("t", version=old)
    assert sorted(store.read("t")["key"].to_pylist()) == ["a", "b"]


def test_a_version_that_was_the_newest_until_just_now_counts_as_young(store: Store) -> None:
    store.append("t", [{"key": "a", "n": 1}])
    old = store.version("t")
    time.sleep(0.6)
    store.append("t", [{"key": "b", "n": 1}])
    store.clean("t", 0.5)
    assert Store(store.root).read("t", version=old)["key"].to_pylist() == ["a"]
    assert store.dataset("t").versions()[0]["version"] == old


def test_files_of_a_killed_writer_go_when_it_is_cleaned(store: Store) -> None:
    store.append("t", [{"key": "a", "n": 1}])
    left = store.root / "t.lance" / "data" / "left.lance"
    left.write_bytes(b"half written")
    store.clean("t", 3600)
    assert not left.exists() and store.count("t") == 1


def test_rows_can_be_taken_by_their_ids(store: Store) -> None:
    store.append("t", [{"key": k, "n": i} for i, k in enumerate("abcdef")])
    store.delete("t", "key = 'b'")
    rows = store.read("t", ["n"], "n > 2", row_ids=True)
    taken = store.take("t", rows["_rowid"].to_pylist()[::-1], ["key"], store.version("t"))
    assert taken["key"].to_pylist() == ["f", "e", "d"]


def test_a_missing_table_is_told(store: Store) -> None:
    with pytest.raises(ArchiveError, match="the table scenes is missing"):
        store.read("scenes")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("IO: No space left on device (os error 28)", "the disk is full, t was not written"),
        ("Permission denied (os error 13)", "cannot write here"),
        ("Read-only file system (os error 30)", "cannot write here"),
        ("LanceError(IO): something odd\nsecond line", "writing t failed: .*something odd; `reel"),
    ],
)
def test_what_lance_raises_becomes_one_clear_line(
    store: Store, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise OSError(text)

    monkeypatch.setattr("lance.write_dataset", failing)
    with pytest.raises(ArchiveError, match=message) as caught:
        store.append("t", [{"key": "a", "n": 1}])
    assert "\n" not in str(caught.value)


def test_a_table_that_is_being_created_is_not_there_yet(store: Store) -> None:
    before = store.versions()
    (store.root / "half_made.lance" / "_versions").mkdir(parents=True)
    assert store.versions() == before
