"""The state of a group, as Spark hands it to the function of a feed query."""

from __future__ import annotations

from typing import Any

import pytest


class GroupStateOfTest:
    """The state of one part: empty at first, then what was put into it."""

    def __init__(self) -> None:
        self.held: tuple[Any, ...] | None = None

    @property
    def exists(self) -> bool:
        return self.held is not None

    @property
    def get(self) -> tuple[Any, ...]:
        assert self.held is not None
        return self.held

    def update(self, held: tuple[Any, ...]) -> None:
        self.held = held


@pytest.fixture
def group_state() -> GroupStateOfTest:
    """An empty state, which each call of a task's function reads and writes."""
    return GroupStateOfTest()
