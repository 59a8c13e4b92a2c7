"""How long something takes."""

from __future__ import annotations

import pytest

from bench.timed import medians_in_turns, timed


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


def test_contenders_take_turns_and_the_median_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, turns = [0.0], []
    takes = {"a": iter([1.0, 9.0, 2.0]), "b": iter([4.0, 5.0, 6.0])}
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])

    def work(name: str) -> None:
        turns.append(name)
        clock[0] += next(takes[name])

    assert medians_in_turns({"a": lambda: work("a"), "b": lambda: work("b")}, 3) == {"a": 2.0, "b": 5.0}
    assert turns == ["a", "b"] * 3


def test_another_clock_counts_where_it_is_given() -> None:
    clock = [0.0]

    def work() -> None:
        clock[0] += 3.0

    assert medians_in_turns({"a": work}, 1, lambda: clock[0]) == {"a": 3.0}
