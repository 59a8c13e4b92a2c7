"""Formulas of three-valued logic and their normal form, against Kleene's tables over all values."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, merged
from asc.predicate.formula import (
    FALSE,
    NULL,
    TRUE,
    Atom,
    Conjunction,
    Const,
    Every,
    Formula,
    Not,
    Some,
    Steps,
    TooManyConjunctsError,
    Within,
    conjuncts_of,
    intersection_of,
    null_test,
    simplified,
    union_of,
)

A, B = (PAttribute(name, pa.int8(), (name,)) for name in "ab")
ROWS = list(product((None, 0, 1, 2, 3), repeat=2))


def at_least(attribute: PAttribute, low: int) -> Atom:
    return Atom(attribute, Constraint((((low, 0), None),)))


atoms = st.one_of(
    st.builds(at_least, st.sampled_from([A, B]), st.integers(0, 3)),
    st.builds(null_test, st.sampled_from([A, B])),
    st.builds(Const, st.sampled_from([TRUE, FALSE, NULL])),
)
formulas: st.SearchStrategy[Formula] = st.recursive(
    atoms,
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.builds(Within, parts, st.integers(1, 6)),
        st.builds(Every, st.lists(parts, min_size=1, max_size=3)),
        st.builds(Some, st.lists(parts, min_size=1, max_size=3)),
    ),
    max_leaves=8,
)


def value(formula: Formula, row: tuple[int | None, int | None]) -> int:
    """TRUE, FALSE or NULL, by the book."""
    if isinstance(formula, Const):
        return formula.value
    if isinstance(formula, Atom):
        key = row[0 if formula.attribute is A else 1]
        if formula.true.admits(key):
            return TRUE
        is_false = key is not None if formula.false is None else formula.false.admits(key)
        return FALSE if is_false else NULL
    if isinstance(formula, Not):
        return {TRUE: FALSE, FALSE: TRUE, NULL: NULL}[value(formula.part, row)]
    if isinstance(formula, Within):
        return TRUE if value(formula.part, row) & formula.outcome else FALSE
    found = [value(part, row) for part in formula.parts]
    zero, unit = (FALSE, TRUE) if isinstance(formula, Every) else (TRUE, FALSE)
    return zero if zero in found else NULL if NULL in found else unit


def accepts(conjuncts: list[Conjunction], row: tuple[int | None, int | None]) -> bool:
    of = dict(zip((A, B), row, strict=True))
    return any(all(constraint.admits(of[own]) for own, constraint in one.items()) for one in conjuncts)


@given(formulas)
def test_the_normal_form_accepts_where_the_formula_is_true(formula: Formula) -> None:
    conjuncts = conjuncts_of(formula, 1_000)
    for row in ROWS:
        assert accepts(conjuncts, row) == (value(formula, row) == TRUE), row


def test_a_tautology_is_one_empty_conjunct_and_a_contradiction_none() -> None:
    assert conjuncts_of(Some([null_test(A), Not(null_test(A))]), 1) == [{}]
    assert conjuncts_of(Every([null_test(A), Not(null_test(A))]), 1) == []


def test_more_conjuncts_than_allowed() -> None:
    either = Some([at_least(A, 1), at_least(B, 1)])
    assert len(conjuncts_of(either, 2)) == 2
    with pytest.raises(TooManyConjunctsError):
        conjuncts_of(either, 1)


def test_simplified_leaves_out_what_another_conjunct_includes() -> None:
    wide, narrow = at_least(A, 1).true, at_least(A, 2).true
    assert simplified([{A: narrow, B: wide}, {A: wide}], Steps()) == [{A: wide}]
    low, high = Constraint((((0, 0), (1, 0)),)), Constraint((((1, 0), (2, 0)),))
    assert simplified([{A: low, B: wide}, {A: high, B: wide}], Steps()) == [{A: union_of([low, high]), B: wide}]


def test_a_formula_nested_in_questions_of_itself_takes_as_many_steps_as_it_has_parts() -> None:
    nested: Formula = at_least(A, 1)
    for _ in range(40):
        nested = Some([Within(nested, NULL), Every([at_least(A, 2), at_least(B, 3)])])
    conjuncts = conjuncts_of(nested, 64)
    for row in ROWS:
        assert accepts(conjuncts, row) == (value(nested, row) == TRUE), row


@given(st.lists(st.sets(st.integers(0, 9)), min_size=1, max_size=5), st.sets(st.integers(0, 4)))
def test_many_constraints_are_intersected_as_sets_are(excluded: list[set[int]], with_null: set[int]) -> None:
    constraints = [
        Constraint(merged(((i, 0), (i, 1)) for i in range(10) if i not in out), number in with_null)
        for number, out in enumerate(excluded)
    ]
    found = intersection_of(constraints)
    for key in (None, *range(10)):
        assert found.admits(key) == all(constraint.admits(key) for constraint in constraints)


def test_two_thousand_values_left_out_of_one_attribute_are_one_conjunct() -> None:
    wide = PAttribute("c", pa.int64(), ("c",))
    parts: list[Formula] = [Not(Atom(wide, Constraint((((i, 0), (i, 1)),)))) for i in range(0, 4_000, 2)]
    ((constraint,),) = (conjunct.values() for conjunct in conjuncts_of(Every(parts), 64))
    assert len(constraint.intervals) == 2_001


def test_more_steps_than_a_tenth_of_a_second() -> None:
    apart = [Constraint(tuple(((i, 0), (i, 1)) for i in range(k, 4_000, 40))) for k in range(20)]
    wide_a, wide_b = PAttribute("c", pa.int64(), ("c",)), PAttribute("d", pa.int64(), ("d",))
    part: Formula = Some([Every([Atom(wide_a, one), Atom(wide_b, other)]) for one in apart for other in apart[:3]])
    with pytest.raises(TooManyConjunctsError):
        conjuncts_of(Every([part, Not(part), part]), 64)
