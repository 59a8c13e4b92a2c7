"""The cyclic collector, held off and settled."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from broker.runtime import collector

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    gc.enable()


def test_what_stays_is_passed_over_once_it_is_settled() -> None:
    frozen = gc.get_freeze_count()
    with collector.paused():
        assert not gc.isenabled()
        made: list[list[int]] = [[] for _ in range(10_000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() <= frozen
    collector.settle()
    assert gc.get_freeze_count() >= frozen + len(made)


def test_pauses_within_each_other_end_with_the_outer_one() -> None:
    with collector.paused():
        with collector.paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(KeyError), collector.paused():
        raise KeyError("x")
    assert gc.isenabled()
