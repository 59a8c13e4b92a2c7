"""Predicates that are near the limits: what becomes of them is bounded, and nothing else than a refusal is raised."""

from __future__ import annotations

import sys

from asc.errors import PredicateError
from asc.predicate import Limits, normalise
from asc.schema import Schema
from workloads.heavy_predicates import HEAVY_DDL, LENGTH_CHARS, heavy_predicates


def test_they_are_of_many_kinds_and_within_the_length() -> None:
    made = list(heavy_predicates(1, 400))
    assert len({kind for kind, _ in made}) > 30
    assert max(len(text) for _, text in made) <= LENGTH_CHARS
    assert made == list(heavy_predicates(1, 400))


def test_each_is_judged_in_a_bounded_number_of_steps() -> None:
    """Counted in calls, not in seconds."""
    schema = Schema.from_ddl(HEAVY_DDL)
    accepted, worst = 0, (0, "")
    for _, text in heavy_predicates(2, 80):
        calls = 0

        def count(frame: object, event: str, arg: object) -> None:
            nonlocal calls
            calls += event == "call"

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            predicate = normalise(text, schema)
            accepted += 1
        except PredicateError:
            continue
        finally:
            sys.setprofile(before)
            worst = max(worst, (calls, text[:200]))
        computed = [attribute for attribute in predicate.p_attributes if attribute.path is None]
        assert sum(attribute.weight for attribute in computed) <= Limits.spark_nodes
        assert sum(len(attribute.sql) for attribute in computed) < 4 * LENGTH_CHARS
    assert accepted > 20
    assert worst[0] < 600_000, worst
