"""Predicates in normal form: which p-attributes they constrain."""

from __future__ import annotations

import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.predicate.normal_form import Predicate

A, B, C = (PAttribute(name, pa.int32(), (name,)) for name in "abc")
POSITIVE = Constraint((((0, 1), None),))


def test_p_attributes_are_told_once_in_the_order_of_first_use() -> None:
    predicate = Predicate("", (((B, POSITIVE), (A, POSITIVE)), ((C, POSITIVE), (B, POSITIVE))))
    assert predicate.p_attributes == (B, A, C)
    assert Predicate("TRUE", (), match_all=True).p_attributes == ()
