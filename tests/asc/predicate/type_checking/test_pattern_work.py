"""The patterns of a predicate are bounded together."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError
from asc.predicate import normalise
from asc.schema import Schema

SCHEMA = Schema.from_ddl("s STRING, n INT")


@pytest.mark.parametrize(
    "term",
    ["s RLIKE '[0-9]{99}x{i}'", "regexp_like(s, '[0-9]{99}x{i}')", "s LIKE '%" + "_" * 99 + "x{i}%'"],
)
def test_patterns_that_together_take_too_long(term: str) -> None:
    few, many = (" OR ".join(term.replace("{i}", str(i)) for i in range(count)) for count in (4, 5))
    assert normalise(few, SCHEMA).conjuncts
    with pytest.raises(PredicateError, match=r"patterns up to .*: together they may take more than 500 steps"):
        normalise(many, SCHEMA)
    with pytest.raises(PredicateError, match="patterns up to"):
        normalise(f"CASE WHEN n > 1 THEN {many} END", SCHEMA)


@pytest.mark.parametrize(
    "subject",
    ["repeat(rpad(s, 1000, 'a'), 90)", "concat('" + "a" * 15_000 + "', s)", "rpad(s, 1000, 'a')", "hex(hex(s))"],
)
def test_a_pattern_over_a_text_that_is_made_longer_is_more_work(subject: str) -> None:
    assert normalise("s RLIKE 'a{200}b'", SCHEMA).conjuncts
    with pytest.raises(PredicateError, match="more than 500 steps"):
        normalise(f"{subject} RLIKE 'a{{200}}b'", SCHEMA)


def test_patterns_that_are_tried_at_one_place_are_no_work() -> None:
    text = " OR ".join(f"s LIKE 'prefix{i}%' OR s RLIKE '^[a-z]{{1,20}}{i}$'" for i in range(100))
    assert normalise(text, SCHEMA).conjuncts


def test_a_null_pattern_is_no_work() -> None:
    assert not normalise("s LIKE NULL AND s RLIKE NULL", SCHEMA).conjuncts
