"""Conjuncts as flat arrays: they come back as they went in, in whatever width and order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, merged
from asc.keys.dictionary import Dictionary
from asc.keys.grid import KEY_MAX, KEY_MIN
from asc.plan.conjuncts import ConjunctTable, decoded, encoded, joined
from asc.predicate.normal_form.disjunctive_form import Conjunct

N, S = PAttribute("n", pa.int64(), ("n",)), PAttribute("s", pa.string(), ("s",))
SLOTS = {N: 0, S: 1}
TEXTS = (b"", b"a", b"ab", b"b")
DICTIONARY = Dictionary.of(TEXTS)
numbers = st.integers(-5, 5) | st.sampled_from((-(2**31), 2**31 - 1, 2**31, KEY_MIN + 1, KEY_MAX - 1))


def constraints(keys: st.SearchStrategy[object]) -> st.SearchStrategy[Constraint]:
    cut = st.none() | st.tuples(keys, st.integers(0, 1))
    interval = st.tuples(cut, cut).filter(lambda own: own[0] is None or own[1] is None or own[0] < own[1])
    return st.builds(lambda own, null: Constraint(merged(own), null), st.lists(interval, max_size=4), st.booleans())


conjuncts = st.builds(
    lambda number, text: tuple((own, c) for own, c in ((N, number), (S, text)) if c is not None),
    st.none() | constraints(numbers),
    st.none() | constraints(st.sampled_from(TEXTS)),
)


def table_of(*drawn: Conjunct, first: int = 0) -> ConjunctTable:
    return encoded(enumerate(drawn, first), SLOTS, {1: DICTIONARY.label})


def read(table: ConjunctTable) -> list[dict[PAttribute, Constraint]]:
    return [dict(decoded(table, conjunct, {1: DICTIONARY}, list(SLOTS))) for conjunct in range(len(table))]


@given(st.lists(conjuncts, max_size=6))
def test_conjuncts_come_back(drawn: list[Conjunct]) -> None:
    expected = [dict(conjunct) for conjunct in drawn]
    table = table_of(*drawn)
    assert read(table) == expected
    assert read(table.compact()) == expected
    assert read(table.compact().wide()) == expected
    assert table.owner.tolist() == list(range(len(drawn)))


@given(st.lists(conjuncts, max_size=5), st.lists(conjuncts, max_size=5), st.data())
def test_joined_and_taken(one: list[Conjunct], other: list[Conjunct], data: st.DataObject) -> None:
    tables = [table_of(*one).compact(), table_of(*other, first=len(one)).compact()]
    table = joined(tables)
    assert read(table) == [*read(tables[0]), *read(tables[1])]
    which = data.draw(st.permutations(range(len(table))))
    taken = table.take(np.array(which, dtype=np.int64))
    assert read(taken) == [read(table)[place] for place in which]
    assert taken.owner.tolist() == which


def test_inexact_constraints_come_first() -> None:
    table = table_of(((N, Constraint((((1, 1), None),))), (S, Constraint((((b"a", 0), (b"a", 1)),)))))
    marked = table.with_inexact(np.array([False, True]))
    assert marked.slots.tolist() == [1, 0]
    assert marked.has_inexact
    assert not marked.with_inexact(np.array([False, False])).has_inexact


def test_small_constants_take_half_the_room() -> None:
    assert table_of(((N, Constraint((((1, 1), None),))),)).compact().low.dtype == np.int32
    assert table_of(((N, Constraint((((2**31, 1), None),))),)).compact().low.dtype == np.int64


def test_an_interval_without_keys_is_left_out() -> None:
    beyond = Constraint((((KEY_MAX, 1), None),))
    assert read(table_of(((N, beyond),))) == [{N: Constraint(())}]
