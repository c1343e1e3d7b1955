"""The made-up archive of this room's tests, shared where nobody writes to it."""

from __future__ import annotations

import pytest

from reeldb.query.engine import Engine
from tests.query.world import World, make_world


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("query") / "archive")


@pytest.fixture
def engine(world: World) -> Engine:
    """An engine that forgets what its models said when it goes."""
    return world.engine()
