"""Patterns: parts of LIKE, and the regular expressions that stand for them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.predicate.pattern import like_parts, like_regex, like_text, like_work

patterns = st.text("ab%_|", max_size=8)
texts = st.text("ab%_|", max_size=8)


def likes(pattern: str, text: str) -> bool:
    """LIKE by the book, | being the escape."""
    regex = "".join({None: ".*", "": "."}.get(part, re.escape(part or "")) for part in like_parts(pattern, "|"))
    return re.fullmatch(regex, text, re.DOTALL) is not None


def is_escaped_well(pattern: str) -> bool:
    try:
        like_parts(pattern, "|")
    except ValueError:
        return False
    return True


@given(patterns.filter(is_escaped_well))
def test_a_pattern_is_written_back_with_the_same_parts(pattern: str) -> None:
    parts = like_parts(pattern, "|")
    assert like_parts(like_text(parts, "|"), "|") == parts


@given(patterns.filter(is_escaped_well), texts)
def test_the_regular_expression_accepts_what_like_accepts(pattern: str, text: str) -> None:
    regex = like_regex(pattern, "|")
    if regex is not None:
        # Atomic groups come with Python 3.11; a lookahead and a reference to what it took are the same.
        groups = iter(range(1, 50))
        plain = re.sub(r"\(\?>(.*?)\)", lambda own: f"(?=({own[1]}))\\{next(groups)}", regex).replace("\\z", "\\Z")
        assert (re.search(plain, text) is not None) == likes(pattern, text)


@pytest.mark.parametrize("pattern", ["a|", "|a"])
def test_an_escape_of_nothing(pattern: str) -> None:
    with pytest.raises(ValueError, match="after the escape"):
        like_parts(pattern, "|")


@pytest.mark.parametrize(
    ("pattern", "work"),
    [
        ("abc", 0),
        ("abc%", 0),
        ("%abc", 0),
        ("%abc%", 0),
        ("%" + "a" * 900 + "%", 0),
        ("%a_", 2),
        ("a%b_%cd%", 2),
        ("%___%", 3),
        ("%", 0),
        ("", 0),
        ("%ab%abcd%e", 5),
    ],
)
def test_the_work_of_a_pattern_is_that_of_its_segments_after_the_first(pattern: str, work: int) -> None:
    assert like_work(like_parts(pattern, "|")) == work


@pytest.mark.parametrize("pattern", ["_" * 501, "%a" * 501, "_%" * 251])
def test_more_wildcards_than_a_small_stack_takes(pattern: str) -> None:
    with pytest.raises(ValueError, match="at most 500 of % and _"):
        like_work(like_parts(pattern, "|"))
