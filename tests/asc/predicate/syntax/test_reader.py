"""Reading tokens: looking ahead, errors at the place reached, and bounded depth."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError
from asc.predicate.limits import Limits
from asc.predicate.syntax.nodes import Source
from asc.predicate.syntax.reader import TokenReader


def reader(text: str, depth: int = 3) -> TokenReader:
    return TokenReader(Source(text), Limits(nesting_depth=depth))


def test_accepting_and_expecting() -> None:
    own = reader("a AND b")
    assert not own._accept("AND")
    assert own._peek().word == "AND"
    assert own._advance().word == "A"
    assert own._accept("AND")
    with pytest.raises(PredicateError, match=r"syntax error at 'b': expected \)") as caught:
        own._expect(")")
    assert (caught.value.start, caught.value.end) == (6, 7)


def test_the_end_is_told_as_such() -> None:
    own = reader("a")
    own._advance()
    with pytest.raises(PredicateError, match="syntax error at 'the end'"):
        own._fail("write more")


def test_levels_and_depths_are_bounded() -> None:
    own = reader("a")
    for _ in range(3):
        own._enter()
    with pytest.raises(PredicateError, match="nested too deeply"):
        own._enter()
    node = own._node("column", (), 0)
    node = own._node("neg", (own._node("neg", (node,), 0),), 0)
    with pytest.raises(PredicateError, match="at most 3 levels"):
        own._node("neg", (node,), 0)
