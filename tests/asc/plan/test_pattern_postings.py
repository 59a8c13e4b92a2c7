"""Pattern postings: the conjuncts that patterns constrain, by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from asc.frozen import arrays_of
from asc.keys.attribute import PAttribute, matched
from asc.keys.constraint import Constraint
from asc.keys.like import ANY
from asc.plan.conjuncts import ConjunctTable, encoded
from asc.plan.pattern_postings import CLEAR, SET, PatternPostings
from asc.predicate.normal_form.disjunctive_form import Conjunct

NOTE = PAttribute("note", pa.string(), ("note",), is_matched=True)
HOST = PAttribute("host", pa.string(), ("host",), is_matched=True)
DELAY = PAttribute("delay", pa.int32(), ("delay",))
SLOTS = {DELAY: 0, NOTE: 1, HOST: 2}
LABELS = {ANY + b"a" + ANY: 10, ANY + b"b" + ANY: 20, ANY + b"c" + ANY: 30}
YES, NO = Constraint((((1, 0), (1, 1)),)), Constraint((((0, 0), (0, 1)),))
UNKNOWN, KNOWN = Constraint((), null=True), Constraint(((None, None),))


def term(subject: PAttribute, letter: str, constraint: Constraint) -> tuple[PAttribute, Constraint]:
    return matched(subject, ANY + letter.encode() + ANY), constraint


def table_of(*conjuncts: Conjunct) -> ConjunctTable:
    return encoded(enumerate(conjuncts), SLOTS, dict.fromkeys((1, 2), LABELS.__getitem__))


def postings_of(*conjuncts: Conjunct) -> PatternPostings:
    return PatternPostings.of(table_of(*conjuncts).compact(), np.array([1, 2], dtype=np.int32), 1)


def postings(of_block: PatternPostings) -> dict[tuple[int, int], list[tuple[int, list[int] | str]]]:
    found: dict[tuple[int, int], list[tuple[int, list[int] | str]]] = {}
    for slot in range(len(of_block.slots)):
        for place in range(of_block.first_label[slot], of_block.first_label[slot + 1]):
            own = found.setdefault((int(of_block.slots[slot]), int(of_block.labels[place])), [])
            for posting in range(of_block.first_bit[place], of_block.first_bit[place + 1]):
                more = int(of_block.more[posting])
                others: list[int] | str = {SET: "set", CLEAR: "clear"}.get(more, "")
                if not others:
                    others = of_block.others[of_block.first_other[more] : of_block.first_other[more + 1]].tolist()
                own.append((int(of_block.bits[posting]), others))
    return found


def without(of_block: PatternPostings, slot: int) -> list[int]:
    """The first conjuncts that do not admit a value which matches no pattern."""
    return [bit for bit in range(8) if not int(of_block.base[slot, 0]) >> bit & 1]


def test_what_is_asked_for_and_what_is_forbidden() -> None:
    of_block = postings_of(
        (term(NOTE, "a", YES),),
        (term(NOTE, "a", NO), term(HOST, "b", YES)),
        (term(NOTE, "b", Constraint(YES.intervals, null=True)),),
        ((DELAY, Constraint((((5, 0), None),))),),
    )
    assert without(of_block, 0) == [0, 2]
    assert without(of_block, 1) == [1]
    assert postings(of_block) == {(1, 10): [(0, "set"), (1, "clear")], (1, 20): [(2, "set")], (2, 20): [(1, "set")]}


def test_of_several_patterns_the_one_that_the_fewest_ask_for_is_posted() -> None:
    of_block = postings_of(
        (term(NOTE, "a", YES),),
        (term(NOTE, "a", YES), term(NOTE, "c", YES), term(NOTE, "b", YES)),
        (term(NOTE, "b", YES),),
    )
    assert postings(of_block) == {(1, 10): [(0, "set")], (1, 20): [(2, "set")], (1, 30): [(1, [10, 20])]}
    assert without(of_block, 0) == [0, 1, 2]
    assert sorted(of_block.labels_of(1).tolist()) == [10, 10, 20, 20, 30]
    assert of_block.labels_of(2).tolist() == of_block.labels_of(7).tolist() == []


def test_what_is_to_be_null_matches_nothing() -> None:
    of_block = postings_of((term(NOTE, "a", UNKNOWN), term(NOTE, "b", YES)), (term(NOTE, "a", KNOWN),))
    assert postings(of_block) == {}
    assert without(of_block, 0) == [0]


def test_it_cannot_be_written() -> None:
    of_block = postings_of((term(NOTE, "a", YES),))
    for array in arrays_of(of_block).values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
