"""Sets of characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asc.predicate.regex.character_set import CharacterSet

POINTS = sorted({*range(12), 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFFFF, 0x10000, 0x10FFFE, 0x10FFFF})
sets = st.lists(st.tuples(st.sampled_from(POINTS), st.sampled_from(POINTS)).map(sorted).map(tuple), max_size=4).map(
    CharacterSet  # type: ignore[arg-type]
)


def members(characters: CharacterSet) -> set[int]:
    return {point for point in POINTS if any(low <= point <= high for low, high in characters.ranges)}


@given(sets, sets)
def test_operations_are_those_of_sets(one: CharacterSet, other: CharacterSet) -> None:
    assert members(one | other) == members(one) | members(other)
    assert members(one & other) == members(one) & members(other)
    assert members(~one) == set(POINTS) - members(one)
    assert ~~one == one
    assert one <= one | other
    assert (one <= other) == ((~one | other) == ~CharacterSet(()))
    assert one.meets(other) == (~(~one | ~other) != CharacterSet(()))
    assert hash(one | other) == hash(other | one)


def test_halves_of_characters() -> None:
    ascii_only, but_a = CharacterSet.of("ab"), ~CharacterSet.of("a")
    assert not ascii_only.has_low_halves
    assert not ascii_only.has_beyond
    assert ascii_only.takes_whole_characters
    assert but_a.has_low_halves
    assert but_a.has_beyond
    assert but_a.takes_whole_characters
    assert not CharacterSet([(0xE9, 0xFFFF)]).takes_whole_characters
    assert CharacterSet.of("\U0001f600").takes_whole_characters


def test_the_text_of_a_class() -> None:
    assert CharacterSet.of("ab\n").text == "[\\x{a}-\\x{a}\\x{61}-\\x{62}]"
