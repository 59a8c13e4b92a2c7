"""Regular expressions that may stand in a predicate, as trees."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.predicate.regex.pattern_tree import (
    Anchor,
    Atom,
    Choice,
    Group,
    Repeat,
    Run,
    atoms,
    captures,
    has_anchor,
    spelled,
)
from asc.predicate.regex.regular_expression import regular_expression


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("(a*)*", "may match nothing"),
        ("(a?){3}", "may match nothing"),
        ("(a+)+$", "exponential time"),
        ("(a|b)*", "repeat a class"),
        ("(.a)*", "as deep as"),
        ("(a|b){0,51}", "50 times at most"),
        ("(?<name>a)", "only the groups"),
        ("(?>a)", "only the groups"),
        ("(?iu)a", "for other letters use ILIKE, or lower(text)"),
        ("(?m)^a", "the flag m is not allowed"),
        ("(?i)*", "repeats nothing"),
        ("(?=a)*", "a look ahead or back cannot be repeated"),
        ("(?<=a+)b", "a look back needs a bound"),
        ("(?<=(?:ab){1,2})b", "not groups"),
        ("(?<=a(?=b))b", "another look"),
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
        ("a++", "possessive"),
        ("a+?+", "possessive"),
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


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(?i)aB1\u00e9", "[aA][bB]1\u00e9"),
        ("a(?i)b|c", "a[bB]|[cC]"),
        ("(a(?i)b|c)d", "(a[bB]|[cC])d"),
        ("(?i:a)b(?i)c(?-i)d", "(?:[aA])b[cC]d"),
        ("(?i)[b-]", "[\\x{42}-\\x{42}b-]"),
        ("(?i)[-b-]", "[-\\x{42}-\\x{42}b-]"),
        ("(?i)[^b]", "[^\\x{42}-\\x{42}b]"),
        ("(?i)[\\d_]\\w\\D", "[\\d_]\\w\\D"),
        ("(?s).(?-s).", "[\\d\\D]."),
        ("(?is)a.", "[aA][\\d\\D]"),
        ("a*?b+?c??d{2,3}?e{2,}?f{2}?", "a*?b+?c??d{2,3}?e{2}e*?f{2}"),
        ("(?<![a-z])a(?=b|$)(?!c)", "(?<![a-z])a(?=b|$)(?!c)"),
    ],
)
def test_flags_are_written_out(pattern: str, text: str) -> None:
    assert spelled(regular_expression(pattern)) == text


def test_a_fold_is_of_ascii_letters() -> None:
    (kelvin,) = atoms(regular_expression("(?i)[X-c]"))
    assert kelvin.characters.ranges == ((0x41, 0x43), (0x58, 0x63), (0x78, 0x7A))
    assert [atom.text for atom in atoms(regular_expression("(?i)\u212a\u0130\u00df"))] == ["\u212a", "\u0130", "\u00df"]


@given(st.text(".^$|()[]{}*+?-\\,&=!<:idwsab10\u00e9\U0001f600 \n", max_size=12))
def test_what_is_read_is_a_regular_expression(pattern: str) -> None:
    try:
        tree = regular_expression(pattern)
    except ValueError:
        return
    text = re.sub(r"\\x\{([0-9a-f]+)\}", lambda match: f"\\U{int(match.group(1), 16):08x}", spelled(tree))
    re.compile(text.replace("[[", "[\\["))
    assert all(isinstance(atom, Atom) for atom in atoms(tree))


@given(st.text("ab1 _\u00e9\U0001f600\n-", min_size=1, max_size=1))
def test_members_of_classes_are_those_of_another_engine(character: str) -> None:
    for pattern in ("\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "[^a]", "[a-]", "[\\w-]", "[a-b1\u00e9]", "[^\\W_]"):
        (atom,) = atoms(regular_expression(pattern))
        is_member = any(low <= ord(character) <= high for low, high in atom.characters.ranges)
        assert is_member == bool(re.fullmatch(pattern, character, re.ASCII | re.DOTALL)), pattern
