"""Codes of sets of selections."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.dbscan import selections as module
from asc.operators.dbscan.selections import NONE, Selections

NAMES = [f"s{n}" for n in range(20)]
sets_of_names = st.lists(st.sets(st.sampled_from(NAMES), max_size=6), max_size=12)


@given(watched=st.sets(st.sampled_from(NAMES)), given_sets=sets_of_names, later=st.sets(st.sampled_from(NAMES)))
def test_a_code_stands_for_the_watched_selections(
    watched: set[str], given_sets: list[set[str]], later: set[str]
) -> None:
    own = Selections(watched)
    codes = np.array([own.code(tuple(names)) for names in given_sets], dtype=np.int32)
    assert [code == NONE for code in codes] == [not names & watched for names in given_sets]
    held = codes != NONE
    for moved, moved_codes in (
        (own, codes[held]),
        own.kept(codes[held]),
        own.watching(later, codes[held]),
        (Selections.of_plain(json.loads(json.dumps(own.plain()))), codes[held]),
    ):
        for name in NAMES:
            accepted = np.append(moved.accepted([name]), False)[moved_codes]
            wanted = [name in names and name in moved.watched and name in watched for names in given_sets]
            assert accepted.tolist() == np.array(wanted, dtype=bool)[held].tolist()


def test_kept_codes_are_a_function_of_the_points() -> None:
    one, other = Selections(NAMES), Selections(NAMES)
    one.code(("s9",))
    codes = np.array([one.code(("s1", "s2")), one.code(("s3",)), one.code(("s2", "s1"))], dtype=np.int32)
    others = np.array([other.code(("s1", "s2")), other.code(("s3",)), other.code(("s1", "s2"))], dtype=np.int32)
    kept, moved = one.kept(codes)
    kept_too, moved_too = other.kept(others)
    assert kept.plain() == kept_too.plain()
    assert moved.tolist() == moved_too.tolist() == [0, 1, 0]


@pytest.mark.parametrize("width", [1, 1_000, module._NAMES_REMEMBERED, module._NAMES_REMEMBERED + 1])
def test_tuples_are_forgotten_beyond_the_number_of_their_names(width: int) -> None:
    own = Selections(["a", "b"])
    others = tuple(f"s{number}" for number in range(width - 1))
    tuples = [(name, *others) for name in ("a", "b", "c")]
    tuples += [(str(number), *others) for number in range(module._NAMES_REMEMBERED // width + 5)]
    for _ in range(2):
        assert [own.code(names) for names in tuples[:4]] == [0, 1, NONE, NONE]
        assert {own.code(names) for names in tuples[4:]} == {NONE}
        assert sum(map(len, own._known)) == own._known_names <= module._NAMES_REMEMBERED
    is_remembered = width <= module._NAMES_REMEMBERED
    assert (tuples[-1] in own._known) == is_remembered
