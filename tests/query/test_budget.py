from __future__ import annotations

from collections import Counter
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from reeldb.query.budget import Budget, Each, Limits
from reeldb.query.engine import Engine
from reeldb.schema.errors import BindError
from tests.query.oracle import Oracle
from tests.query.test_oracle import SHAPES
from tests.query.world import World

ALL = "SELECT video, scene_no, caption FROM scenes"


@pytest.fixture(scope="module")
def oracle(world: World) -> Oracle:
    return Oracle(world, 0)


def test_a_budget_is_never_overspent_and_the_rest_is_told(engine: Engine) -> None:
    result = engine.sql(f"{ALL} BUDGET 10 CAPTIONS")
    assert result.status == "partial"
    assert result.stats["captions_made"] == result.stats["calls"] == 10
    assert result.stats["not_looked_at"] == 156 - 10
    assert "the budget of 10 captions ended, 146 values were not looked at" in result.notes[-1]


def test_the_same_statement_goes_on_where_it_stopped(engine: Engine) -> None:
    seen = [engine.sql(f"{ALL} BUDGET 60 CAPTIONS").row_count for _ in range(3)]
    assert seen == [60, 120, 156]


def test_a_statement_without_a_budget_is_bounded_by_the_defaults(world: World) -> None:
    engine = world.engine()
    result = engine.sql("SELECT t_s, caption FROM frames")
    assert result.stats["captions_made"] == Limits.default().captions == 256
    assert result.status == "partial"


def test_a_caption_and_its_judgement_are_paid_together(engine: Engine) -> None:
    result = engine.sql(
        "SELECT video, scene_no FROM scenes WHERE matches(caption, 'common') BUDGET 60 CALLS"
    )
    assert result.stats["calls"] <= 60
    assert result.stats["replies"] >= 20
    assert result.row_count > 5


def test_seconds_end_a_statement_too(engine: Engine) -> None:
    result = engine.sql(f"{ALL} BUDGET 0 SECONDS")
    assert result.stats["calls"] == 0
    assert result.status == "partial"


@pytest.mark.parametrize(
    ("unit", "limit", "most"),
    [("captions", 100, 100), ("calls", 100, 100), ("tokens", 500, 100), ("usd", 0.2, 100),
     ("seconds", 5.0, 100)],
)  # fmt: skip
def test_parallel_debits_never_overspend(unit: str, limit: float, most: int) -> None:
    budget = Budget(Limits.of({"captions": 10**6} | {unit: limit}))
    granted: list[int] = []

    def spend() -> None:
        for _ in range(60):
            n = budget.take("captions", 7)
            granted.append(n)
            if n:
                budget.paid("captions", 0.05 * n, 5 * n, 0.002 * n, 5, 0.002, calls=n)

    spend()  # what a call costs is known now
    before = sum(granted)
    assert 0 < before <= most
    budget = Budget(budget.limits)
    budget.expect({"captions": Each(0.05, 5, 0.002)})
    granted.clear()
    threads = [Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(granted) == budget.captions <= most
    assert getattr(budget, unit) <= limit * (1 + 1e-9)
    assert before > most - 8


def test_the_first_call_goes_alone_where_nobody_knows_what_one_costs() -> None:
    budget = Budget(Limits.of({"tokens": 1000}))
    assert budget.take("captions", 8) == 1
    assert budget.take("captions", 8) == 0
    budget.paid("captions", 0.1, 300, 0.0, 300)
    assert budget.take("captions", 8) == 2
    budget.paid("captions", 0.1, 500, 0.0, 250)
    assert budget.take("captions", 8) == 0
    assert budget.ended_by == "1000 tokens"


def test_a_repeated_call_is_debited_like_a_first_one() -> None:
    budget = Budget(Limits.of({"calls": 3}))
    assert budget.take("captions", 2) == 2
    assert [budget.again("captions") for _ in range(2)] == [True, False]
    assert (budget.calls, budget.retries, budget.ended_by) == (3, 1, "3 calls")


@pytest.mark.parametrize("name", list(SHAPES)[::3])
@pytest.mark.parametrize("calls", [3, 40])
def test_every_row_of_a_partial_result_is_in_the_full_one(
    world: World, oracle: Oracle, name: str, calls: int
) -> None:
    result = world.engine(0).sql(SHAPES[name], budget={"calls": calls})
    extra = Counter(map(repr, result)) - Counter(map(repr, oracle.run(SHAPES[name])))
    assert not extra
    assert result.stats["calls"] <= calls


def test_not_exists_over_values_nobody_looked_at_gives_no_row(engine: Engine) -> None:
    sql = (
        "SELECT v.video FROM videos v WHERE NOT EXISTS (SELECT 1 FROM scenes s "
        "WHERE s.video_id = v.video_id AND matches(s.caption, 'no such thing')) BUDGET 40 CALLS"
    )
    result = engine.sql(sql)
    assert result.status == "partial"
    assert result.fetchall() == []


def test_a_limit_returns_the_rows_that_the_doubtful_ones_cannot_push_out(
    world: World, oracle: Oracle
) -> None:
    sql = SHAPES["LIMIT, OR with cheap"]
    result = world.engine(0).sql(sql, budget={"calls": 18})
    rows = result.fetchall()
    assert result.status == "partial"
    assert 0 < len(rows) < 8
    assert set(rows) <= set(oracle.run(sql))


def test_best_effort_shows_the_others_marked(world: World) -> None:
    engine = world.engine()
    engine.sql("SET partial = 'best_effort'")
    result = engine.sql(f"{ALL} BUDGET 10 CAPTIONS")
    assert result.row_count == 156
    assert result.columns[-1] == "sure"
    assert sum(r[-1] for r in result) == 10
    counted = engine.sql("SELECT count(*) FROM scenes WHERE caption LIKE '%dog%' BUDGET 0 CALLS")
    assert [r[-1] for r in counted] == [False]


def test_tokens_end_a_statement_before_they_are_overspent(engine: Engine) -> None:
    result = engine.sql(f"{ALL} BUDGET 40 TOKENS")
    assert 0 < result.stats["tokens"] <= 40
    assert "40 tokens" in result.notes[-1]


def test_a_budget_in_dollars_needs_a_price(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captioner: Any = engine.models.captioner()
    captioner.address = "openai:seer"
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "config.toml"))
    with pytest.raises(BindError, match="usd_per_million_tokens"):
        engine.sql(f"{ALL} BUDGET 1 USD")
    (tmp_path / "config.toml").write_text('["openai:seer"]\nusd_per_million_tokens = 1000.0\n')
    result = engine.sql(f"{ALL} BUDGET 0.03 USD")
    assert 0 < result.stats["usd"] <= 0.03
    assert result.status == "partial"
