"""Destinations of plans: kept over changes, parts and renewals, against a plain dictionary."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.errors import PlanError
from asc.plan.compiler import change_plan, compile_plan, renewed
from asc.plan.destination import NO_DESTINATION, Destination, DestinationTable
from asc.plan.parts import Part, parts_of, plan_of
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.schema import Schema

SCHEMA = Schema.from_ddl("n INT")


def destination(number: int) -> Destination:
    return Destination(f"q{number}", "near", 2, f"t{number % 3}", f"s{number % 5}", json.dumps({"\u00e9": number}))


def query(name: str, number: int | None) -> Query:
    own = None if number is None else destination(number)
    return Query(name, normalise(f"n > {len(name)}", SCHEMA), f"topic-{number}", own)


def found_in(plan: Plan) -> dict[str, Destination | None]:
    table = plan.destinations
    own = [None if place == NO_DESTINATION else table.entries[place] for place in table.of_query.tolist()]
    return dict(zip(plan.query_ids.to_pylist(), own, strict=True))


NAMES = [f"{prefix}{number}" for prefix in "ab" for number in range(12)]
_PUTS = st.dictionaries(st.sampled_from(NAMES), st.none() | st.integers(0, 9), max_size=4)
CHANGES = st.lists(st.tuples(_PUTS, st.sets(st.sampled_from(NAMES), max_size=4)), max_size=8)


@settings(deadline=None, max_examples=40)
@given(CHANGES, st.booleans())
def test_they_are_as_in_a_dictionary_whatever_changes(
    changes: list[tuple[dict[str, int | None], set[str]]], is_exact: bool
) -> None:
    options = CompileOptions(exact_bytes=1 << 20 if is_exact else 0, rebuild_share=0.5)
    known: dict[str, Destination | None] = {"z": None}
    plan, parts = compile_plan([query("z", None)], options), tuple[Part, ...]()
    for puts, removes in changes:
        gone = {name for name in removes if name in known and name not in puts}
        plan = change_plan(plan, [query(name, number) for name, number in puts.items()], gone)
        known.update({name: None if number is None else destination(number) for name, number in puts.items()})
        for name in gone:
            del known[name]
        assert found_in(plan) == known
        assert set(plan.destinations.used()) == {own for own in known.values() if own is not None}
        parts = parts_of(plan, parts)
        again = plan_of([Part.from_bytes(part.to_bytes()) for part in parts])
        assert found_in(again) == known
    anew = renewed(plan)
    assert found_in(anew) == known
    assert set(anew.destinations.entries) == {own for own in known.values() if own is not None}


def test_pages_of_destinations_stay_the_same_where_others_come() -> None:
    many = compile_plan([query(f"q{number:05}", number) for number in range(2_500)])
    before = parts_of(many)
    after = parts_of(change_plan(many, [query("new", 3_000)]), before)
    pages, others = ([part for part in parts if part.kind == "destinations"] for parts in (before, after))
    assert len(pages) == len(others) == 3
    assert [one is other for one, other in zip(pages, others, strict=True)] == [True, True, False]


def test_queries_of_destinations_that_are_not_there_are_damage() -> None:
    parts = parts_of(compile_plan([query("a", 1)]))
    with pytest.raises(PlanError):
        plan_of([part for part in parts if part.kind != "destinations"])


def test_a_table_without_entries_is_small() -> None:
    assert DestinationTable.of([None] * 10).nbytes == 40
