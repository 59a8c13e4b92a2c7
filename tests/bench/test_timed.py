"""How long something takes."""

from __future__ import annotations

import pytest

from bench.timed import timed


def test_it_is_the_clock_around_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [10.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])

    def work() -> None:
        clock[0] += 2.5

    assert timed(work) == 2.5
    assert clock == [12.5]


def test_what_fails_is_no_measurement() -> None:
    with pytest.raises(ZeroDivisionError):
        timed(lambda: 1 / 0)
