"""Plans as text. `UPDATE_GOLDEN=1 pytest` writes the files anew; review the diff."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reeldb.models.registry import LOADERS
from reeldb.query.engine import Engine
from reeldb.query.plan import Node
from reeldb.query.prices import said_price
from tests.query.bounded import run_bounded
from tests.query.test_oracle import SHAPES
from tests.query.world import World

GOLDEN = Path(__file__).parent / "golden"
PLANS = [
    "select list after cheap filter",
    "two lazy preds AND",
    "self join, before",
    "LEFT JOIN lazy in ON",
    "NOT EXISTS correlated",
    "scalar subquery in select",
    "HAVING cheap + lazy",
    "QUALIFY cheap, lazy select",
    "LIMIT over join, lazy on both",
    "derived lazy then outer filter",
    "derived window then lazy",
    "INTERSECT in brackets",
    "ocr join scenes",
    "ocr_text",
]


def text_of(engine: Engine, sql: str) -> str:
    return "\n".join(str(row[0]) for row in engine.sql(f"EXPLAIN {sql}")) + "\n"


@pytest.mark.parametrize("name", PLANS)
def test_plans_are_as_reviewed(world: World, name: str) -> None:
    path = GOLDEN / f"{name.replace(' ', '_').replace(',', '')}.txt"
    shown = f"{SHAPES[name]}\n\n{text_of(world.engine(), SHAPES[name])}"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(shown)
    assert shown == path.read_text()


def test_no_golden_file_is_left_behind() -> None:
    names = {f"{n.replace(' ', '_').replace(',', '')}.txt" for n in PLANS}
    assert {p.name for p in GOLDEN.glob("*.txt")} == names


class Remote:
    """An embedder that answers from elsewhere, and counts how often it is asked."""

    can = cannot = "a test"
    address = "elsewhere:embedder"
    batch_size = 16

    def __init__(self, inner: Any) -> None:
        self.inner, self.asked = inner, 0
        self.space, self.dim, self.identity = inner.space, inner.dim, inner.identity
        self.image_size = inner.image_size

    def embed_texts(self, texts: Sequence[str]) -> Any:
        self.asked += 1
        return self.inner.embed_texts(texts)

    embed_images = embed_texts


def remote(engine: Engine) -> Remote:
    models: Any = engine.models
    embedder = Remote(models.embedder())
    models.made |= {"embedder": embedder, "text_embedder": embedder}
    models.roles |= {"embedder": embedder.address, "text_embedder": embedder.address}
    return embedder


BY_SIMILARITY = [
    name for name, sql in SHAPES.items() if "similarity(" in sql or "select_frames(" in sql
]


@pytest.mark.parametrize("name", BY_SIMILARITY)
def test_explain_asks_no_remote_embedder_and_its_bounds_still_hold(world: World, name: str) -> None:
    engine = world.engine()
    embedder = remote(engine)
    text = text_of(engine, SHAPES[name])
    assert embedder.asked == 0
    assert "EXPLAIN does not ask elsewhere:embedder" in text
    run_bounded(world, engine, SHAPES[name], blind=True)
    assert embedder.asked > 0


def test_explain_embeds_no_caption_at_a_remote_embedder(world: World) -> None:
    engine = world.engine()
    embedder = remote(engine)
    cached = world.engine()
    engine.ledger = cached.ledger  # type: ignore[method-assign]
    sql = "SELECT similarity(caption, 'a dog') FROM scenes WHERE video = 'v1.mp4'"
    text_of(engine, sql)
    assert embedder.asked == 0


@pytest.mark.parametrize(
    ("sql", "lines"),
    [
        ("SELECT video FROM scenes WHERE start_s < 20",
         ["Project scenes.video: 24 rows", "Filter scenes.start_s < 20: 24 rows",
          "Scan scenes: 156 rows"]),
        ('SELECT scene_no FROM "v1.mp4".scenes', ["Scan scenes", "12 rows"]),
        ("SELECT s.video FROM scenes s JOIN videos v ON v.video_id = s.video_id LIMIT 5",
         ["Join INNER ON v.video_id = s.video_id: 156 rows", "Limit 5: 5 rows"]),
        ("SELECT count(*) FROM scenes", ["Aggregate: 1 row"]),
        ("SELECT 1 FROM scenes WHERE caption = 'x' AND scene_no = 0", [": at most 12 rows"]),
        ("SELECT video FROM scenes UNION ALL SELECT video FROM videos", ["UNION ALL: 168 rows"]),
        ("SELECT video, count(*) FROM scenes GROUP BY video", ["by scenes.video: at most 156"]),
    ],
)  # fmt: skip
def test_operators_tell_how_many_rows_they_expect(
    engine: Engine, sql: str, lines: list[str]
) -> None:
    text = text_of(engine, sql)
    assert all(line in text for line in lines), text


def test_analyze_tells_how_many_rows_there_were(engine: Engine) -> None:
    sql = "SELECT scene_no FROM scenes WHERE caption LIKE '%dog%' AND video = 'v1.mp4'"
    rows = engine.sql(sql).row_count
    lines = [r[0] for r in engine.sql(f"EXPLAIN ANALYZE {sql}")]
    assert any("Filter" in line and line.endswith(f": {rows} rows") for line in lines)


def test_explain_calls_no_model(world: World) -> None:
    engine = world.engine()
    engine.sql("EXPLAIN SELECT video, caption, ocr_text FROM scenes WHERE matches(caption, 'x')")
    roles: tuple[Any, ...] = ("captioner", "chat", "ocr")
    for role in roles:
        model: Any = engine.models.get(role)
        assert model.requests == 0


def test_explain_tells_what_is_cached_and_analyze_what_happened(engine: Engine) -> None:
    sql = "SELECT scene_no, caption FROM scenes WHERE video = 'v1.mp4' AND scene_no < 5"
    assert "0 cached, at most 5 to compute (5 captions; " in text_of(engine, sql)
    lines = [r[0] for r in engine.sql(f"EXPLAIN ANALYZE {sql}")]
    assert any("0 cached, 5 computed" in line for line in lines)
    assert any("5 rows, complete" in line for line in lines)


def test_every_kind_of_node_prints_itself_in_one_line() -> None:
    kinds = Node.__subclasses__()
    assert len(kinds) > 12
    for kind in kinds:
        node = kind(text="x")
        assert node.line == f"{node.name} x"


def test_plans_are_values() -> None:
    from reeldb.query.plan import Filter, Limit

    assert Filter((Limit((), "3"),), "a") == Filter((Limit((), "3"),), "a")
    other: Node = Limit((), "a")
    assert Filter((), "a") != other


def test_a_price_is_free_here_unknown_elsewhere_or_what_the_user_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "config.toml"))
    assert all(said_price(f"{s}:x") == "free: runs here" for s in LOADERS if s != "openai")
    assert said_price("openai:seer") == "unknown"
    (tmp_path / "config.toml").write_text("[openai]\nusd_per_million_tokens = 0.6\n")
    assert said_price("openai:seer") == "0.6 USD per million tokens"
