"""The table of the allowed functions."""

from __future__ import annotations

from asc.predicate.catalogue.refusals import LANGUAGE, REFUSALS
from asc.predicate.functions import FAMILIES, FUNCTIONS


def test_a_function_is_in_one_family_and_either_allowed_or_refused() -> None:
    assert sum(map(len, FAMILIES.values())) == len(FUNCTIONS)
    assert set(FUNCTIONS) & set(REFUSALS) == set()
    assert (set(FUNCTIONS) | set(REFUSALS)) & LANGUAGE == set()
    assert all(name == name.lower() and 0 <= own.least <= own.most for name, own in FUNCTIONS.items())
