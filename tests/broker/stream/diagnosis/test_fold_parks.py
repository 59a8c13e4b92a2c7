"""Queries whose states failed, told until they are parked."""

from __future__ import annotations

from broker.stream.diagnosis.fold_parks import FoldParks


def test_it_is_told_until_it_is_parked() -> None:
    parks = FoldParks()
    parks.report({}, 1)
    assert parks.finding is None
    parks.report({"a": "why"}, 3)
    first = parks.finding
    assert first is not None
    assert (first.queries, first.version) == ({"a": "why"}, 3)
    parks.report({"a": "why"}, 3)
    assert parks.finding is first
    parks.go_on(first)
    assert parks.finding is None
    # A batch that was begun before comes after.
    parks.report({"a": "why"}, 3)
    assert parks.finding is not None


def test_without_a_batch_that_names_all_of_them_more_are_told_beside_those_of_before() -> None:
    parks = FoldParks()
    parks.add({}, 7)
    assert parks.finding is None
    parks.report({"a": "why"}, 3)
    parks.add({"b": "too"}, 2)
    assert parks.finding is not None
    assert (parks.finding.queries, parks.finding.version) == ({"a": "why", "b": "too"}, 3)


def test_a_query_that_failed_meanwhile_is_not_forgotten() -> None:
    parks = FoldParks()
    parks.report({"a": "why"}, 3)
    first = parks.finding
    assert first is not None
    parks.report({"a": "why", "b": "too"}, 4)
    parks.go_on(first)
    assert parks.finding is not None
    assert (parks.finding.queries, parks.finding.version) == ({"a": "why", "b": "too"}, 4)
    # A replaced version is not named by a later plan.
    parks.report({"b": "too"}, 5)
    assert (parks.finding.queries, parks.finding.version) == ({"b": "too"}, 5)
