from __future__ import annotations

import pyarrow as pa
import pytest

from reeldb.schema.relations import RELATIONS
from reeldb.schema.tables import HEAVY, INGESTED, LEDGER, TABLES, embeddings_schema

NAMES = [
    "videos",
    "scenes",
    "frames",
    "embeddings",
    "captions",
    "ocr",
    "speech",
    "objects",
    "actions",
    "entities",
    "entity_mentions",
    "answers",
    "tool_runs",
]


def test_the_relations_are_those_of_the_language() -> None:
    assert sorted(RELATIONS) == sorted(NAMES)


@pytest.mark.parametrize("name", sorted(RELATIONS))
def test_no_column_is_called_end_or_comes_twice(name: str) -> None:
    names = [c.name for c in RELATIONS[name].columns]
    assert "end" not in names
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", sorted(set(RELATIONS) - {"answers"}))
def test_every_relation_shows_the_video(name: str) -> None:
    assert [c.name for c in RELATIONS[name].columns[:2]] == ["video", "video_id"]


@pytest.mark.parametrize("name", sorted(RELATIONS))
def test_a_relation_is_ordered_by_columns_it_has(name: str) -> None:
    assert set(RELATIONS[name].order) <= set(RELATIONS[name].by_name)


def test_tables_named_elsewhere_exist() -> None:
    assert set(INGESTED) | set(LEDGER) | set(HEAVY) <= set(TABLES)
    for table, columns in HEAVY.items():
        assert columns <= set(TABLES[table].names)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_no_stored_column_is_untyped(name: str) -> None:
    assert not any(pa.types.is_null(f.type) for f in TABLES[name])


def test_an_embedding_table_names_its_space_and_width() -> None:
    schema = embeddings_schema("builtin:labels", 384)
    assert schema.metadata == {b"space": b"builtin:labels", b"dim": b"384"}
    assert schema.field("vector").type.list_size == 384
