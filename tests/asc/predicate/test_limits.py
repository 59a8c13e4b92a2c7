"""Limits that are none are refused when they are made."""

from __future__ import annotations

import pytest

from asc.predicate.limits import MAX_NESTING_DEPTH, Limits


@pytest.mark.parametrize(
    "wrong", [{"nesting_depth": 0}, {"nesting_depth": MAX_NESTING_DEPTH + 1}, {"length_chars": 0}, {"conjuncts": 0}]
)
def test_bounds(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Limits(**wrong)
    assert Limits(nesting_depth=MAX_NESTING_DEPTH, length_chars=1, conjuncts=1).conjuncts == 1
