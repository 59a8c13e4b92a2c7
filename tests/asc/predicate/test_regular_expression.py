"""Regular expressions that may stand in a predicate, as trees."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.predicate.regular_expression import (
    Anchor,
    Atom,
    Choice,
    Group,
    Repeat,
    Run,
    atoms,
    captures,
    has_anchor,
    is_nullable,
    regular_expression,
    spelled,
)


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("(a*)*", "may match nothing"),
        ("(a?){3}", "may match nothing"),
        ("(a+)+$", "exponential time"),
        ("(a|b)*", "repeat a class"),
        ("(.a)*", "as deep as"),
        ("(a|b){0,51}", "50 times at most"),
        ("(?=a)", "only plain groups"),
        ("a{3,1}", "m < n"),
        (r"\1", "not allowed"),
        ("[a", "has no ]"),
        ("(a", "has no )"),
        ("a)", "has no ("),
        (r"\bword\b", "accents"),
        ("x" * 501, "at most 500"),
        ("(" * 21 + ")" * 21, "more than 20 deep"),
        ("^*", "cannot be repeated"),
        ("*a", "repeats nothing"),
        ("a++", "lazy, possessive"),
        ("a{,3}", "repeats nothing"),
        ("a]", "write \\]"),
        ("[[a]]", "classes inside classes"),
        ("[a&&b]", "classes inside classes"),
        ("[b-a]", "that is none"),
        ("a\\", "is not allowed"),
    ],
)
def test_regular_expressions_that_are_refused(pattern: str, part: str) -> None:
    with pytest.raises(ValueError, match=re.escape(part)):
        regular_expression(pattern)


def test_a_tree() -> None:
    tree = regular_expression(r"^(?:a|\d+)[^x]{2}$")
    assert isinstance(tree, Run)
    start, group, repeat, end = tree.parts
    assert (start, end) == (Anchor("^"), Anchor("$"))
    assert isinstance(group, Group)
    assert not group.is_capturing
    assert isinstance(group.part, Choice)
    assert isinstance(repeat, Repeat)
    assert (repeat.low, repeat.high) == (2, 2)
    assert [atom.text for atom in atoms(tree)] == ["a", "\\d", "[^x]"]
    assert has_anchor(tree)
    assert not captures(tree)


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


@given(st.text(".^$|()[]{}*+?-\\,&dwsab10\u00e9\U0001f600 \n", max_size=12))
def test_what_is_read_is_a_regular_expression(pattern: str) -> None:
    try:
        tree = regular_expression(pattern)
    except ValueError:
        return
    re.compile(spelled(tree).replace("[[", "[\\["))
    assert all(isinstance(atom, Atom) for atom in atoms(tree))


@given(st.text("ab1 _\u00e9\U0001f600\n-", min_size=1, max_size=1))
def test_members_of_classes_are_those_of_another_engine(character: str) -> None:
    for pattern in ("\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "[^a]", "[a-]", "[\\w-]", "[a-b1\u00e9]", "[^\\W_]"):
        (atom,) = atoms(regular_expression(pattern))
        is_member = any(low <= ord(character) <= high for low, high in atom.characters.ranges)
        assert is_member == bool(re.fullmatch(pattern, character, re.ASCII | re.DOTALL)), pattern
