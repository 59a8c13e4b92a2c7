"""Analysis by a schema alone."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError
from asc.schema import Schema
from broker.operators.schema_analyser import SchemaAnalyser

ANALYSER = SchemaAnalyser(Schema.from_ddl("t TIMESTAMP, s STRING"), "America/New_York")


def test_it_reads_predicates_in_its_time_zone() -> None:
    there = ANALYSER.normalise("t = TIMESTAMP '2026-01-01 00:00:00'")
    here = SchemaAnalyser(ANALYSER.attributes).normalise("t = TIMESTAMP '2026-01-01 05:00:00'")
    assert there.conjuncts == here.conjuncts
    with pytest.raises(PredicateError, match="unknown column 'x'"):
        ANALYSER.normalise("x > 1")


def test_over_another_schema_it_keeps_the_zone() -> None:
    other = ANALYSER.over(Schema.from_ddl("x INT"))
    assert (other.attributes, other.time_zone) == (Schema.from_ddl("x INT"), "America/New_York")
    other.check(other.normalise("x > 1"))
