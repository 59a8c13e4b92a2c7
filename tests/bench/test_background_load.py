"""Work beside what is measured: it ends with it, and its failure is told."""

from __future__ import annotations

import threading

import pytest

from bench.background_load import background_load


def test_it_goes_on_until_it_is_told_to_end() -> None:
    started, done = threading.Event(), []

    def work(ended: threading.Event) -> None:
        started.set()
        assert ended.wait(10)
        done.append(True)

    with background_load(work):
        assert started.wait(10)
        assert not done
    assert done == [True]


def test_what_it_raises_is_raised_at_the_end() -> None:
    def work(ended: threading.Event) -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"), background_load(work):
        pass
