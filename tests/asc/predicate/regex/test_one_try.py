"""The work of a part that is tried at one place."""

from __future__ import annotations

import pytest

from asc.predicate.regex.one_try import LoopError, steps_of_look, tried
from asc.predicate.regex.pattern_tree import Look
from asc.predicate.regex.regular_expression import regular_expression


@pytest.mark.parametrize(
    ("pattern", "work"),
    [("abc", (1, 3)), ("(a|bc)d", (2, 5)), ("a{1,3}b", (3, 6)), ("a(?=bc)", (1, 4)), ("^a$", (1, 3))],
)
def test_ways_and_steps(pattern: str, work: tuple[int, int]) -> None:
    assert tried(regular_expression(pattern), is_last=False) == work


def test_a_loop_is_bounded_at_the_end_alone() -> None:
    tree = regular_expression("ab*")
    assert tried(tree, is_last=True) == (1, 2)
    with pytest.raises(LoopError):
        tried(tree, is_last=False)


@pytest.mark.parametrize(
    ("pattern", "count"),
    [("(?=ab)", 3), ("(?!a|bc)", 4), ("(?<=ab)", 7), ("(?<!a{0,2}|bcd)", 21), ("(?<=^|(a))", 5)],
)
def test_a_look_back_is_tried_from_each_place_before(pattern: str, count: int) -> None:
    look = regular_expression(pattern)
    assert isinstance(look, Look)
    assert steps_of_look(look) == count


def test_a_look_without_bound_is_refused() -> None:
    look = regular_expression("(?=a*b)")
    assert isinstance(look, Look)
    with pytest.raises(ValueError, match="right behind"):
        steps_of_look(look)
