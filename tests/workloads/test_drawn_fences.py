"""Drawn predicates over shapes: each is read, and says of some rows that it accepts them and of some not."""

from __future__ import annotations

from asc.predicate import normalise
from workloads.drawn_fences import SCHEMA, Drawn, both, either, negation, place_of


def test_three_values_go_together_as_in_sql() -> None:
    assert [both(True, None), both(False, None), both(True, True)] == [None, False, True]
    assert [either(True, None), either(False, None), either(False, False)] == [True, None, False]
    assert [negation(None), negation(True)] == [None, False]


def test_what_is_no_place_is_none() -> None:
    row = {"lon": 8.0, "lat": 47.0, "far": 181.0, "odd": float("nan"), "no": None}
    assert place_of(row, ("lon", "lat")) == (8.0, 47.0)
    assert [place_of(row, (name, "lat")) for name in ("far", "odd", "no")] == [None, None, None]


def test_predicates_are_read_and_decide() -> None:
    drawn = Drawn(3)
    rows = drawn.rows(80).to_pylist()
    found = set()
    for _ in range(60):
        asks = drawn.predicate()
        normalise(asks.sql, SCHEMA)
        found |= {asks.of(row) for row in rows}
    assert found == {True, False, None}
