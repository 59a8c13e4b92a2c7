"""A keeper with one cube."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import cube_id, definition, opened


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    """The keeper of the cube ``late``, without lateness."""
    own, cube = opened(tmp_path), definition()
    own.define(cube_id("late", cube), cube)
    yield own
    own.close()
