"""Work beside what is measured: it ends with it, and its failure is told."""

from __future__ import annotations

import threading

import pytest

from bench.meanwhile import meanwhile


def test_it_goes_on_until_it_is_told_to_end() -> None:
    begun, done = threading.Event(), []

    def work(ended: threading.Event) -> None:
        begun.set()
        assert ended.wait(10)
        done.append(True)

    with meanwhile(work):
        assert begun.wait(10)
        assert not done
    assert done == [True]


def test_what_it_raises_is_raised_at_the_end() -> None:
    def work(ended: threading.Event) -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"), meanwhile(work):
        pass
