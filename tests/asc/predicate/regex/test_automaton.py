"""Automata of regular expressions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.predicate.regex.automaton import Automaton, PathCounts
from asc.predicate.regex.regular_expression import regular_expression


def of(pattern: str) -> Automaton:
    return Automaton.of(regular_expression(pattern))


def ends(automaton: Automaton, text: str) -> list[int]:
    """How many ways lead to each end of a match from the start, by the automaton."""
    found = []
    moved: PathCounts = automaton.first_at_start
    for character in text:
        counts = {
            place: paths
            for place, paths in moved.items()
            if any(low <= ord(character) <= high for low, high in automaton.characters[place].ranges)
        }
        found.append(sum(paths * automaton.last.get(place, 0) for place, paths in counts.items()))
        moved = {}
        for place, paths in counts.items():
            for after, more in automaton.follow[place].items():
                moved[after] = moved.get(after, 0) + paths * more
    return found


pieces = st.sampled_from(
    ["a", "b", "[ab]", "a*", "b+", "a?", "(a|b)", "(a|ab)", "(ab)*", "(a|b){1,2}", "b{2,}", "(^a)?"]
)
patterns = st.lists(pieces, min_size=1, max_size=5).map("".join)


@given(patterns, st.text("ab", max_size=7))
def test_it_matches_what_another_engine_matches(pattern: str, text: str) -> None:
    automaton = of(pattern)
    for length, paths in enumerate(ends(automaton, text), 1):
        assert bool(paths) == bool(re.fullmatch(pattern, text[:length]))


@pytest.mark.parametrize(
    ("pattern", "text", "paths"),
    [("(a|a)(a|a)", "aa", [0, 4]), ("a?a?a", "aa", [1, 2]), ("a*a*", "aaa", [2, 3, 4]), ("a(|)(|)b", "ab", [0, 4])],
)
def test_it_counts_the_ways(pattern: str, text: str, paths: list[int]) -> None:
    assert ends(of(pattern), text) == paths


@given(patterns, st.text("ab", max_size=7))
def test_what_has_another_match_within_it(pattern: str, text: str) -> None:
    if re.fullmatch(pattern, text) and not of(pattern).ends_within_itself():
        within = [text[start:end] for end in range(1, len(text)) for start in range(end)]
        assert not any(re.fullmatch(pattern, part) for part in within if "^" not in pattern)


def test_sinks() -> None:
    automaton = of("a+|b*c|d+$")
    assert [automaton.is_sink(place) for place in range(5)] == [True, False, False, False, False]


def test_its_size_is_bounded() -> None:
    with pytest.raises(ValueError, match="more than 500 characters"):
        of("(a{30}){20}")
