"""The rule of event time: moved by the slowest partition with records, held by those that wait, never back."""

from __future__ import annotations

from asc.operators.event_time import EventTimeProgress


def test_the_slowest_partition_with_records_moves_the_mark_and_never_back() -> None:
    own = EventTimeProgress().after({})
    assert own.mark_us is None
    own = own.after({0: 50, 1: 30})
    assert own.mark_us == 30
    assert own.after({1: 20}).mark_us == 30
    # A silent partition holds nothing back.
    assert own.after({0: 60}).mark_us == 60


def test_a_partition_that_waits_holds_the_mark_at_its_last_time() -> None:
    own = EventTimeProgress().after({0: 50, 1: 30})
    held = own.after({0: 60}, waiting={1})
    assert (held.mark_us, dict(held.newest)) == (30, {0: 60, 1: 30})
    assert held.after({1: 65}).mark_us == 65


def test_one_that_was_never_read_holds_it_and_one_read_without_a_time_does_not() -> None:
    own = EventTimeProgress(10).after({0: 50}, waiting={1})
    assert own.mark_us == 10
    assert own.after({0: 60}, read={0, 1}).after({0: 70}, waiting={1}).mark_us == 70
