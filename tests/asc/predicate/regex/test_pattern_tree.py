"""Regular expressions as trees: what is asked of them, and their text."""

from __future__ import annotations

import pytest

from asc.predicate.regex.pattern_tree import (
    Look,
    Repeat,
    Run,
    captures,
    greedy,
    has_anchor,
    has_look,
    is_lazy,
    is_nullable,
    spelled,
    within,
)
from asc.predicate.regex.regular_expression import regular_expression


@pytest.mark.parametrize("pattern", ["", "a*", "(a|b*)", "^", "$", "(a?b?)", "a{0}", "(ab)*"])
def test_what_may_match_nothing(pattern: str) -> None:
    assert is_nullable(regular_expression(pattern))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a)(?:b|c){2}d?e+f*", "(a)(?:b|c){2}d?e+f*"),
        ("a{0,1}b{0,}c{1,}", "a?b*c+"),
        ("a{3,}", "a{3}a*"),
        ("(ab){3,}", "(ab){3,}"),
    ],
)
def test_the_text_of_a_tree(pattern: str, text: str) -> None:
    assert spelled(regular_expression(pattern)) == text
    assert spelled(regular_expression(pattern), capturing=False) == text.replace("(a", "(?:a")


def test_what_is_looked_at_is_not_read() -> None:
    tree = regular_expression("(?=(a))b??")
    assert isinstance(tree, Run)
    look, repeat = tree.parts
    assert isinstance(look, Look)
    assert isinstance(repeat, Repeat)
    assert repeat.is_lazy
    assert captures(look)
    assert has_anchor(tree)
    assert is_nullable(tree)
    assert spelled(greedy(tree)) == "(?=(a))b?"
    assert has_look(tree)


def test_parts_are_found_wherever_they_stand() -> None:
    tree = regular_expression("a(b|c(?:d*?)){2}e")
    assert [spelled(part) for part in within(tree)][:4] == ["a(b|c(?:d*?)){2}e", "a", "(b|c(?:d*?)){2}", "(b|c(?:d*?))"]
    assert is_lazy(tree)
    assert not is_lazy(greedy(tree))
    assert not has_look(tree)
